-- 3 tests
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

create function pg_temp.paths() returns text[] language sql as $$
  select array_agg(f ->> 'path')
  from qwf.claim('cpu', 'w') c, jsonb_array_elements(c.inputs -> 'x') f
$$;
select is(array_agg(value ->> 'path'), array[null, null], 'of a box that says not where it writes')
from file;
select qwf.register_worker('box', 'gpu', '{"out_root": "/moved"}');
select qwf_test.report('s/b', 'released');
select is(pg_temp.paths(), array(select format('/moved/%s/s/a/%s', qwf_test.run(), n)
  from unnest(array['a.png', 'b.json']) n), 'each claim gives the path that the box has now');
