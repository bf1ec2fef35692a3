-- 6 tests
select is(
  (_qwf.resolve(_qwf.fold(c.value, s.scope), s.element)).error,
  (_qwf.resolve(c.value, s.scope || s.element)).error, c.value::text)
from (values (jsonb '{"s/a": {"n": 5}}', jsonb '{"$item": {"id": 1}, "$index": 0}'))
  s (scope, element)
cross join (values
  (jsonb '{"x": {"$from": ["s/a", "m"]}}'),
  ('{"x": {"$from": ["s/a", "n"], "$filter": {"eq:id": {"$from": ["$item", "id"]}}}}'),
  ('{"x": {"$from": ["s/a", "n"], "$filter": {}, "$default": 1}}'),
  ('{"x": {"$check": {"$from": ["s/a", "n"]}, "schema": {"type": "string"}, "input": "s.n"}}'),
  ('{"x": {"$from": [{"$from": ["s/a", "n"]}, "deep"]}}'),
  ('{"x": {"$eq": 1}, "y": {"$from": ["$item", "nowhere"]}}')) c (value);
