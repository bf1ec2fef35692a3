-- 10 tests
select is(
  qwf.resolve(jsonb_build_object('$from', 'l', '$filter', c.conditions),
    '{"l": [{"k": "face", "n": 1}, {"k": "cat", "n": 1}, {"n": 2, "m": {"k": "x"}}, 5],
      "f": "cat"}')
      #> '{}', c.expected, c.conditions::text)
from (values
  (jsonb '{"eq:k": "cat"}', jsonb '[{"k": "cat", "n": 1}]'),
  ('{"k:eq": "cat"}', '[{"k": "cat", "n": 1}]'),
  ('{"eq:n": 1.0, "matches:k": "^f"}', '[{"k": "face", "n": 1}]'),
  ('{"k:matches": "a"}', '[{"k": "face", "n": 1}, {"k": "cat", "n": 1}]'),
  ('{"matches:n": "^2$"}', '[{"n": 2, "m": {"k": "x"}}]'),
  ('{"eq:k": null}', '[{"n": 2, "m": {"k": "x"}}, 5]'),
  ('{"eq:m.k": "x"}', '[{"n": 2, "m": {"k": "x"}}]'),
  ('{"eq:k": {"$from": "f"}}', '[{"k": "cat", "n": 1}]'),
  ('{"eq:k": "dog"}', '[]'),
  ('{}', '[{"k": "face", "n": 1}, {"k": "cat", "n": 1}, {"n": 2, "m": {"k": "x"}}, 5]')
) c (conditions, expected);
