-- 7 tests
select is(p.path || ': ' || p.problem || '; ' || p.hint, c.expected, c.node::text)
from (values
  (jsonb '{"nod": "x"}', 'nodes[0].nod: unknown key; did you mean node?'),
  ('{"ndoe": "x"}', 'nodes[0].ndoe: unknown key; did you mean node?'),
  ('{"retry": {"max_atempts": 3}}',
    'nodes[0].retry.max_atempts: unknown key; did you mean max_attempts?'),
  ('{"retry": {"xyz": 3}}',
    'nodes[0].retry.xyz: unknown key; known keys: backoff, max_attempts, max_losses'),
  ('{"retry": {"backoff": {"base": 1, "factr": 3}}}',
    'nodes[0].retry.backoff.factr: unknown key; did you mean factor?'),
  ('{"inputs": {"x": {"$form": "up.x"}}}', 'nodes[0].inputs.x: "$form" is not an operator, '
    || 'or its operator is missing; did you mean $from?'),
  ('{"inputs": {"x": {"$from": "y", "$defualt": 1}}}',
    'nodes[0].inputs.x: "$defualt" is not allowed beside "$from"; did you mean $default?')
  ) c (node, expected)
cross join lateral (
  select * from _qwf.pipeline_problems(
    jsonb_build_object('name', 'p', 'nodes', jsonb_build_array(jsonb '{"id": "n"}' || c.node)))
  limit 1) p;
