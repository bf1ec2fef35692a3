begin;
select plan(1);

select qwf_test.workflow('pair',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.files"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a', detail => '{"host": "box", "files": [
  {"rel_path": "s/a/b.json", "kind": "json", "size_bytes": 2}, {"rel_path": "s/a/a.png",
    "kind": "image", "size_bytes": 1}]}');
create temp table file as select f.* from qwf.claim('cpu', 'w') c,
  jsonb_array_elements(c.inputs -> 'x') f;
select results_eq($$
  select value ->> 'rel_path', value ->> 'kind', value -> 'size_bytes' from file
$$, $$ values ('s/a/a.png', 'image', '1'::jsonb), ('s/a/b.json', 'json', '2') $$,
  'from the database, by path');

select * from finish();
rollback;
