-- Steps read the outputs by name.
begin;
select plan(1);

select results_eq($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [{"id": "a"}],
  "outputs": {"$from": "a.x"}}') $$,
  array['outputs: must not be an expression: give each output by name'], 'it is refused');

select * from finish();
rollback;
