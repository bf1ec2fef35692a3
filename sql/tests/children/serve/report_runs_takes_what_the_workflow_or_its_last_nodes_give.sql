-- 6 tests
select qwf.register_workflow(jsonb_build_object('name', w.name, 'outputs', w.outputs, 'steps',
  '[{"id": "a", "node": "a", "inputs": {"x": {"$from": "x"}}},
    {"id": "b", "node": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x"}}},
    {"id": "m", "node": "m", "map": [1], "depends_on": ["a"], "inputs": {"x": "m"}}]'::jsonb)
  - case when w.outputs is null then 'outputs' else '' end)
from (values ('plain', null::jsonb), ('named', '{"y": {"$from": "a.x"}, "c": {"$from": "x"}}'),
  ('wrong', '{"y": {"$from": "a.z"}}')) w (name, outputs);
select qwf.register_workflow('{"name": "top", "steps": [
  {"id": "p", "kind": "workflow", "workflow": "plain", "inputs": {"x": "v"}},
  {"id": "n", "kind": "workflow", "workflow": "named", "inputs": {"x": "v"}},
  {"id": "w", "kind": "workflow", "workflow": "wrong", "inputs": {"x": "v"},
    "on_failure": "continue"}]}');
select set_eq($$ select qwf_test.problems('workflow', '{"name": "bad", "inputs": {"type": "list"},
  "outputs": {"a": {"$from": "b.x"}, "c": {"$from": "q.y"}}, "steps": [
  {"id": "q", "kind": "input", "widget": "confirm"}]}') $$, array[
  'inputs.type: must be string, number, integer, boolean, object, array or null, '
    'or a list of these',
  'inputs.type: must be "object"', 'outputs.c: step "q" has only "value"'],
  'inputs and outputs are checked when the workflow is registered');
create temp table run as select qwf.enqueue_run('top') as id;
select qwf_test.works(5);
select is(output, '{"x": "v", "text": "V", "m": [{"x": "m", "text": "M"}]}'::jsonb,
  'without outputs: those of the last nodes, a list under the id of its node')
from qwf.jobs where node_id = 'p';
select is(output, '{"y": "v", "c": "v"}'::jsonb, 'with outputs: these')
from qwf.jobs where node_id = 'n';
select matches(last_error, '^outputs of run [0-9]+: QW004: unresolvable reference a[.]z',
  'outputs that lead nowhere fail the step') from qwf.jobs where node_id = 'w';
select is(status::text, 'completed', 'the run above goes on')
  from qwf.runs r join run on run.id = r.id;
select is_empty('select * from qwf.check_invariants()', 'invariants');
