-- 12 tests
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "list", "command": ["ls", {"$from": "folder"}], "display_name": "List"},
  {"id": "each", "node": "one", "depends_on": ["list"], "map": {"$from": "list.xs"},
    "inputs": {"x": {"$from": "item"}, "i": {"$from": "index"}}, "min_success": 1,
    "retry": {"max_attempts": 1}, "gpu": true, "model": "m"},
  {"id": "tail", "kind": "node", "depends_on": ["each"], "run_if": "all_done",
    "skip_if": {"$from": "quiet", "$eq": true}, "inputs": {"all": {"$from": "each"}, "n": 1}},
  {"id": "ok", "kind": "input", "widget": "confirm", "depends_on": ["tail"]}]}');
select results_eq($$ select node_id, step_id, pipeline, task, queue, dep_count, ref_nodes
  from qwf.graph_nodes order by idx $$, $$ values
  ('list', 'list', null, 'command', 'cpu', 0, '{}'::int[]),
  ('each', 'each', null, 'one', 'gpu', 1, '{0}'),
  ('tail', 'tail', null, 'tail', 'cpu', 1, '{1}'),
  ('ok', 'ok', null, 'input', null, 1, '{}') $$, 'the node has the id of the step');
select is(jsonb_build_array(inputs, map, min_success, (options).max_attempts, required_model),
  '[{"x": {"$from": ["$item"]}, "i": {"$from": ["$index"]}}, {"$from": ["list", "xs"]},
    "1", 1, "m"]'::jsonb, 'every key of a node is kept')
from qwf.graph_nodes where node_id = 'each';
select is(run_if || ' ' || (skip_if ->> '$from'), 'all_done ["$context", "quiet"]',
  'conditions too')
from qwf.graph_nodes where node_id = 'tail';

select is(qwf.workflow_graph('{"name": "w", "steps": [{"id": "a", "node": "b", "display_name": "A",
    "inputs": {"x": {"$from": "x"}, "y": {"$from": "y", "$default": 1}}}]}') #>> v.path::text[],
  v.expected, v.path)
from (values
  ('{steps,0,kind}', 'node'), ('{nodes,0,id}', 'a'), ('{nodes,0,title}', 'A'),
  ('{inputs}',
    '[{"path": ["x"], "required": true}, {"path": ["y"], "default": 1, "required": false}]'),
  ('{problems}', '[]')) v (path, expected);

select throws_ok($$ select qwf.enqueue_run('w', '{"quiet": false}') $$, 'QW005',
  'the context does not fit the workflow', 'the context is checked when the run is enqueued');
select qwf.enqueue_run('w', '{"folder": "f", "quiet": false}');
select is(qwf.finish(c.job_id, c.token, 'completed', '{"xs": ["p", "q"]}'), 'ok', 'it runs')
from qwf.claim('cpu', 'w1') c;
select results_eq($$ select node_id, inputs from qwf.claim('gpu', 'w1', 10) $$, $$ values
  ('each[0]', '{"i": 0, "x": "p"}'::jsonb), ('each[1]', '{"i": 1, "x": "q"}') $$,
  'as a map, it runs for each element');
select set_eq($$ select qwf_test.problems('workflow', '{"name": "bad", "steps": [
  {"id": "a", "node": "a", "inputs": {"x": {"$from": "item"}, "y": {"$from": "a.x"}},
    "skip_if": {"$from": "b.k"}},
  {"id": "b", "kind": "node", "nod": 3},
  {"id": "c", "kind": "node", "depends_on": ["a/x", "b"], "map": {"$from": "index"},
    "max_parallel": 0, "inputs": {"z": {"$from": "b/y"}}, "skip_if": {"$from": "item"}},
  {"id": "d"}, {"id": "e", "kind": "transform", "node": "e"},
  {"id": "f", "kind": "node", "map": 5, "inputs": {"command": 1}, "command": ["f"]},
  {"id": "g", "node": "g", "map": {"$value": 3}}]}') $$, array[
  'steps[0].inputs.x: "item" cannot be read here',
  'steps[0].inputs.y: "a" belongs to the same step',
  'steps[0].skip_if: step "b" is not upstream: add "b" to depends_on',
  'steps[1].nod: unknown key',
  'steps[2].depends_on[0]: there is no "a/x"',
  'steps[2].map: "index" cannot be read here',
  'steps[2].skip_if: "item" cannot be read here',
  'steps[2].max_parallel: must be 1 to 1000000',
  'steps[2].inputs.z: there is no "b/y"',
  'steps[3].kind: is missing',
  'steps[4].kind: must be "node", "pipeline", "workflow" or "input"',
  'steps[4].node: unknown key',
  'steps[5].map: must be of type array or object, not number',
  'steps[5].inputs.command: is reserved for the command itself',
  'steps[6].map: gives a value of type number, not a list'],
  'each problem has its path');
