-- 8 tests
select is(qwf.resolve(v.value, '{}'), v.value, v.value::text)
from (values
  (jsonb 'null'), ('true'), ('0'), ('"$from"'), ('[]'), ('[1, [null, {"a": "b"}]]'),
  ('{}'), ('{"a": {"b": [1, "x"]}}')) v (value);
