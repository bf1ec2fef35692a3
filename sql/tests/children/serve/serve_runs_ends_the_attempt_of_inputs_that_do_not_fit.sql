-- 6 tests
select qwf_test.register_album();
create temp table run as select qwf.enqueue_run('album', '{"list": [1, "q"]}') as id;
select is(qwf_test.works(1), 'scan:ok', 'a list with a number');
select matches((select last_error from qwf.jobs where node_id = 'each[0]'),
  'must be of type string',
  'inputs that do not fit fail the element');
select is((select status::text from qwf.runs r join run on run.id = r.id), 'failed', 'and the run');
select is((select count(*) from qwf.runs where depth = 1), 0::bigint, 'no run was made');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select set_eq($$ select qwf_test.problems('workflow', '{"name": "w", "steps": [
  {"id": "a", "kind": "workflow", "workflow": "one", "inputs": {"x": 5, "y": 1}},
  {"id": "b", "kind": "workflow", "workflow": "gone"},
  {"id": "c", "kind": "workflow"},
  {"id": "d", "kind": "workflow", "workflow": "one", "queue": "cpu", "inputs": {"x": "x"},
    "max_parallel": 3}]}') $$, array[
  'steps[0].inputs.x: must be of type string, not number',
  'steps[0].inputs.y: the workflow declares no such input',
  'steps[1].workflow: there is no workflow "gone"',
  'steps[2].workflow: is missing',
  'steps[3].queue: unknown key',
  'steps[3].max_parallel: needs a "map"'],
    'what the definition shows is refused when it is registered');
