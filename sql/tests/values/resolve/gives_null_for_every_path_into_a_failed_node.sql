-- 6 tests
select is(qwf.resolve(c.value, '{"s/a": null, "s/b": {"k": 2, "n": null}}'), c.resolved,
  c.value::text)
from (values
  (jsonb '{"$from": ["s/a"]}', jsonb 'null'),
  ('{"$from": ["s/a", "x", 0, "y"], "$default": 3}', 'null'),
  ('{"$coalesce": [{"$from": ["s/a", "x"]}, 3]}', '3'),
  ('{"$from": [["s/a", "s/b"], "k"]}', '2'),
  ('{"$from": [["s/a", "s/b"], "j"]}', 'null'),
  ('{"$from": ["s/b", "n", "x"], "$default": 3}', '3')) c (value, resolved);
