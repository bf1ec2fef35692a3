-- 3 tests
select qwf_test.explains(
  format('select qwf.resolve(%L, %L)', c.value, '{"a": [{"k": "x"}], "b": 1}'), 'invalid: %',
    c.value)
from (values
  ('{"$from": "b", "$filter": {"eq:k": 1}}'),
  ('{"$from": "a", "$filter": {"matches:k": "("}}'),
  ('{"$from": "a", "$filter": {"matches:k": 5}}')) c (value);
