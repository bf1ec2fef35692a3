-- 12 tests
select results_eq(
  format('select qwf_test.step_problems(%L)',
    jsonb '{"kind": "input", "expires": "2 days", "depends_on": ["q"]}' || c.keys),
  case when c.problem is null then '{}' else array['steps[1].' || c.problem] end, c.keys::text)
from (values
  (jsonb '{"widget": "confirm", "default": "yes"}',
    'default: must be of type boolean, not string'),
  ('{"widget": "text", "min_length": 3, "default": "no"}',
    'default: must have at least 3 characters'),
  ('{"widget": "number", "max": 5, "default": 6}', 'default: must be at most 5'),
  ('{"widget": "choose_one", "options": ["a", "b"], "default": "c"}',
    'default: is not one of the options'),
  ('{"widget": "choose_one", "options": ["a", "b"], "multiple": true, "default": ["a", "c"]}',
    'default[1]: is not one of the options'),
  ('{"widget": "paint", "schema": {"required": ["x"]}, "default": {}}', 'default.x: is missing'),
  ('{"widget": "choose_one", "source": {"$from": "q.value"}, "schema": {"type": "string"},
    "default": 1}', 'default: must be of type string, not number'),
  ('{"widget": "choose_one", "options": ["a", "b"], "default": "b"}', null),
  ('{"widget": "choose_one", "options": ["a", "b"], "default": null}', null),
  ('{"widget": "choose_one", "source": {"$from": "q.value"}, "default": "anything"}', null),
  ('{"widget": "choose_one", "options": [{"$from": "q.value"}, 1], "default": 7}', null),
  ('{"widget": "json", "default": {"$from": "nowhere"}}', null)) c (keys, problem);
