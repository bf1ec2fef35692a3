-- 9 tests
select qwf.register_workflow('{"name": "one", "steps": [
  {"id": "try", "node": "try", "inputs": {"x": {"$from": "x"}}},
  {"id": "undo", "node": "undo", "depends_on": ["try"], "run_if": "all_done"}]}');
select qwf.register_workflow('{"name": "any", "steps": [
  {"id": "m", "kind": "workflow", "workflow": "one", "map": {"$value": [1, 2, 3, 4]},
    "min_success": 1, "stop_when_reached": true, "max_parallel": 2,
    "inputs": {"x": {"$from": "item"}}},
  {"id": "use", "node": "use", "depends_on": ["m"], "inputs": {"all": {"$from": "m"}}}]}');
select qwf.enqueue_run('any');
select is((select count(*) from qwf.runs where depth = 1), 2::bigint, 'two runs are live');
create temp table held as select * from qwf.claim('cpu', 'w', 2);
select qwf.finish(job_id, token, 'completed', inputs)
from held where inputs ->> 'x' = '1';
select qwf.finish(c.job_id, c.token, 'completed', '{"x": "undone"}')
from qwf.claim('cpu', 'w', 5) c where c.node_id = 'undo';
select results_eq($$ select status::text, error from qwf.runs where depth = 1 order by id $$,
  $$ values ('completed', null), ('running', 'the run above it ended') $$,
  'one completed, the other stops, and does its clean-up');
select results_eq($$ select node_id, status::text from qwf.jobs
  where run_id = (select min(id) from qwf.runs) order by node_idx, element $$, $$ values
  ('m', 'completed'), ('use', 'blocked'), ('m[0]', 'completed'), ('m[1]', 'running'),
  ('m[2]', 'cancelled'), ('m[3]', 'cancelled') $$, 'the others never begin');
select is(concat(n.message, ' ', n.elements), '1 completed, 2 stopped, 1 still to stop: 1 was '
  'enough {"running": 1, "cancelled": 2, "completed": 1}', 'people see why the others stop')
from qwf.run_nodes n join qwf.jobs j on j.id = n.job_id
where j.node_id = 'm';
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf.finish(h.job_id, h.token, 'cancelled') from held h where h.inputs ->> 'x' = '2';
select qwf.finish(c.job_id, c.token, 'completed', '{}') from qwf.claim('cpu', 'w', 5) c
where c.node_id = 'undo';
select is((select j.status::text from qwf.jobs j where j.node_id = 'use'), 'queued',
  'what follows waits for the clean-up');
select is(node ->> 'message', '1 completed, 3 stopped: 1 was enough', 'and that they have')
from jsonb_array_elements(qwf.run_status((select min(id) from qwf.runs)) -> 'nodes') node
where node ->> 'node_id' = 'm';
select is((select j.inputs from qwf.claim('cpu', 'w') j), '{"all": [{"x": "undone"}, null, null,
  null]}', 'null for the runs that were stopped');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
