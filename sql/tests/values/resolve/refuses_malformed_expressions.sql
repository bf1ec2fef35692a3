-- 16 tests
select qwf_test.explains(
  format('select qwf.resolve(%L, %L)', c.value, '{"a": [1], "b": 1}'), 'malformed: %', c.value)
from (values
  ('{"$form": "a"}'), ('{"$eq": 1}'), ('{"$from": "a", "x": 1}'), ('{"$from": "a", "$value": 1}'),
  ('{"$value": 1, "x": 2}'), ('{"$coalesce": 1}'), ('{"$from": ""}'), ('{"$from": "a..b"}'),
  ('{"$from": []}'), ('{"$from": ["a", null]}'), ('{"$from": ["a", 1.5]}'), ('{"$from": 1}'),
  ('{"$from": "b", "$eq": 1, "$ne": 1}'), ('{"$from": "a", "$filter": 1}'),
  ('{"$from": "a", "$filter": {"lt:x": 1}}'), ('{"$from": "a", "$default": 1, "$defalut": 1}')
) c (value);
