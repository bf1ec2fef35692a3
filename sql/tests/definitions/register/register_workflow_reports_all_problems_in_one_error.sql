-- 3 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select throws_ok($$ select qwf.register_workflow('{"name": "w"}') $$, 'QW003',
  'invalid workflow definition', 'is QW003');
select set_eq($$ select qwf_test.problems('workflow', '{"name": "w", "stpes": [],
  "deadline": "soon", "steps": [
  {"id": "a", "kind": "pipeline", "pipeline": "p", "depends_on": ["z"]},
  {"id": "a", "kind": "input", "widget": "confirm", "default": true},
  {"id": "b", "kind": "pipeline", "pipeline": "q", "inputs": {"x": {"$from": ""}}},
  {"id": "c", "kind": "input", "widget": "text", "prompt": {"$from": "a.x"}, "min": 1},
  {"id": "d", "kind": "pipeline", "pipeline": "p", "depends_on": ["d"]},
  {"id": "e", "kind": "robot", "skip_if": 5},
  []]}') $$, array[
  'stpes: unknown key',
  'deadline: must be a duration of at most a year',
  'steps[0].depends_on[0]: there is no "z"',
  'steps[1].id: "a" is already the id of steps[0]',
  'steps[1].default: needs "expires"',
  'steps[2].pipeline: there is no pipeline "q"',
  'steps[2].inputs.x: "$from" has an empty segment',
  'steps[3].min: unknown key',
  'steps[3].prompt: step "a" is not upstream: add "a" to depends_on',
  'steps: cycle: d -> d',
  'steps[5].kind: must be "node", "pipeline", "workflow" or "input"',
  'steps[5].skip_if: must be true, false or an expression',
  'steps[6]: must be of type object, not array'], 'each with its path');
select is_empty('select from qwf.workflows', 'nothing is written');
