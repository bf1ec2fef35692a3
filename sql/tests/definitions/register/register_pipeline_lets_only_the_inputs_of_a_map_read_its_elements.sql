-- 9 tests
select is_empty(format('select qwf_test.node_problems(%L)', c.keys), c.keys::text)
from (values
  (jsonb '{"map": [1], "inputs": {"x": [{"$from": "item"}, {"$from": ["item", "a.b", 0]}]}}'),
  ('{"map": [1], "inputs": [{"name": "x", "from": "item.size"}]}'),
  ('{"map": [1], "command": ["do.sh", {"$from": "index"}]}')) c (keys);
select results_eq(format('select qwf_test.node_problems(%L)', c.keys),
  array[format('nodes[1].%s cannot be read here', c.problem)], c.keys::text)
from (values
  (jsonb '{"inputs": {"x": {"$from": "item.size"}}}', 'inputs.x: "item"'),
  ('{"command": ["do.sh", {"$from": "index"}]}', 'command[1]: "index"'),
  ('{"map": [{"$from": "index"}]}', 'map[0]: "index"'),
  ('{"map": [1], "skip_if": {"$from": "item.done"}}', 'skip_if: "item"')) c (keys, problem);
select results_eq($$ select qwf_test.problems('pipeline', '{"name": "p",
  "outputs": {"x": {"$from": "item"}}, "nodes": [{"id": "n", "map": [1]}]}') $$,
  array['outputs.x: "item" cannot be read here'], 'an export cannot');
select results_eq($$ select qwf_test.step_problems('{"kind": "input", "widget": "confirm",
  "prompt": {"$from": "item.text"}}') $$,
  array['steps[1].prompt: "item" cannot be read here'], 'a question cannot');
