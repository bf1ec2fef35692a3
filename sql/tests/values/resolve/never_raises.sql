-- 8 tests
select is((_qwf.resolve(c.value, c.scope)).error is null, c.fine, format('%s in %s',
  c.value, c.scope))
from (values
  (null::jsonb, null::jsonb, true),
  ('{"a": {"$from": ["x"]}}', null, false),
  ('{"a": {"$from": ["x", "y"]}}', '[]', false),
  ('{"a": {"$from": ["x"]}}', '3', false),
  ('{"a": {"$from": []}}', '{}', false),
  ('{"a": {"$from": [null]}}', '{}', false),
  ('{"a": {"$from": ["x"], "$filter": {"matches:a": "["}}}', '{"x": []}', false),
  ('{"a": {"$from": ["x", "99999999999"]}}', '{"x": [1]}', false)) c (value, scope, fine);
