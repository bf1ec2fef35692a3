-- 6 tests
select qwf.register_workflow('{"name": "try", "outputs": {"n": {"$from": "add.n"}}, "steps": [
  {"id": "add", "node": "add", "inputs": {"n": {"$from": "n"}}}]}');
select qwf.register_workflow('{"name": "loop", "steps": [
  {"id": "m", "kind": "workflow", "workflow": "try", "inputs": {"n": {"$from": "index"}},
    "repeat": {"until": {"$from": "item.n", "$eq": 2}, "max": 5}},
  {"id": "use", "node": "use", "depends_on": ["m"], "inputs": {"n": {"$from": "m.n"}}}]}');
select qwf.enqueue_run('loop');
select is((select sum(qwf_test.work()) from generate_series(1, 9)), 4::bigint,
  'three turns, each a run, and what follows');
select results_eq('select status::text, context from qwf.runs where depth = 1 order by id',
  $$ values ('completed', '{"n": 0}'::jsonb), ('completed', '{"n": 1}'), ('completed', '{"n": 2}')
  $$, 'one after the other');
select is((select status::text from qwf.runs where depth = 0), 'completed', 'the run completes');
select is((select output from qwf.job_details where node_id = 'use'), '{"n": 2}',
  'what follows reads the output of the last one');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- a turn that is named runs again, and so do those after it
select qwf.retry_run((select min(id) from qwf.runs), 'm[1]');
select is((select sum(qwf_test.work()) from generate_series(1, 9)), 3::bigint,
  'turns two and three, and what follows');
