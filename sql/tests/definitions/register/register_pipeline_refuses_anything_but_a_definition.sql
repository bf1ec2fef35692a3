-- 8 tests
select results_eq(format('select qwf_test.problems(%L, %L)', 'pipeline', c.definition),
  array[c.problem], coalesce(c.definition, 'null'))
from (values
  ('[]', 'definition: must be an object'),
  ('"p"', 'definition: must be an object'),
  (null, 'definition: must be an object'),
  ('{"nodes": []}', 'name: is missing'),
  ('{"name": "p"}', 'nodes: is missing'),
  ('{"name": 5, "nodes": []}', 'name: must be of type string, not number'),
  ('{"name": "p", "nodes": {}}', 'nodes: must be of type array, not object'),
  ('{"name": "p@1", "nodes": []}', 'name: "p@1" is not a valid name')) c (definition, problem);
