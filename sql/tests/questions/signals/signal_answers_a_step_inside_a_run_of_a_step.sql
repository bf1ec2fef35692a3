-- 5 tests
select qwf.register_workflow('{"name": "one", "inputs": {"properties": {"x": {"type": "string"}}},
  "outputs": {"paid": {"$from": "wait.value"}}, "steps": [
  {"id": "wait", "kind": "input", "signal": ["paid", {"$from": "x"}]}]}');
select qwf.register_workflow('{"name": "all", "steps": [
  {"id": "each", "kind": "workflow", "workflow": "one", "map": {"$from": "list"},
    "inputs": {"x": {"$from": "item"}}}]}');
create temp table run as select qwf.enqueue_run('all', '{"list": ["a", "b"]}', project => 'shop')
  as id;
select results_eq('select name from qwf.waits order by name', array['paid:a', 'paid:b'],
  'each run inside waits for its own signal');
select is(qwf.signal('paid:a', '1', 'shop'), 1, 'in the project of the run above');
select qwf.signal('paid:b', '2', 'shop');
select is((select status::text from qwf.runs join run using (id)), 'completed',
  'the runs inside end, and so does the run above');
select is((select output from qwf.jobs j join run on j.run_id = run.id and j.node_idx = 0),
  '[{"paid": 1}, {"paid": 2}]', 'which gets what they got');
select is_empty('select * from qwf.check_invariants()', 'invariants');
