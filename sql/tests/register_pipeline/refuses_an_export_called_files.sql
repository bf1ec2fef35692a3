-- <step>.files is the list of files the step left.
begin;
select plan(2);

select results_eq($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [{"id": "a"}],
  "outputs": {"files": {"$from": "a.x"}}}') $$, array['outputs.files: "files" is reserved'],
  'as it could not be read');
select is_empty($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [{"id": "a"}],
  "outputs": {"files": {"type": "list"}}}') $$, 'documentation may be called that');

select * from finish();
rollback;
