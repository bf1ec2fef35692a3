-- 9 tests
select results_eq(format('select qwf_test.problems(%L, %L)', 'workflow', c.definition),
  array[c.problem], coalesce(c.definition, 'null'))
from (values
  ('[]', 'definition: must be an object'),
  (null, 'definition: must be an object'),
  ('{"steps": []}', 'name: is missing'),
  ('{"name": "w"}', 'steps: is missing'),
  ('{"name": "w", "steps": 1}', 'steps: must be of type array, not number'),
  ('{"name": "", "steps": []}', 'name: "" is not a valid name'),
  ('{"name": "w", "steps": [{"id": "a"}]}', 'steps[0].kind: is missing'),
  ('{"name": "w", "steps": [{"id": "a", "kind": "pipeline"}]}', 'steps[0].pipeline: is missing'),
  ('{"name": "w", "steps": [{"id": "a", "kind": "input"}]}', 'steps[0].widget: is missing')
) c (definition, problem);
