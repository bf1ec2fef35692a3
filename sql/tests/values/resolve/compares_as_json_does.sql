-- 10 tests
select is(
  qwf.resolve(jsonb_build_object('$from', 'a', '$eq', c.operand), jsonb_build_object('a', c.value)),
  to_jsonb(c.same), format('%s = %s', c.value, c.operand))
from (values
  (jsonb '1', jsonb '1.0', true),
  ('1', 'true', false),
  ('1', '"1"', false),
  ('null', 'null', true),
  ('{"x": 1, "y": [2]}', '{"y": [2], "x": 1}', true),
  ('[1, 2]', '[2, 1]', false)) c (value, operand, same);
select is(qwf.resolve('{"$from": "a", "$ne": "none"}', '{"a": "x"}'), 'true',
  '$ne is its opposite');
select is(qwf.resolve('{"$from": "a", "$eq": {"$from": "b"}}', '{"a": 1, "b": 1}'), 'true',
  'the operand may be a reference');
select is(qwf.resolve('{"$from": "x", "$default": "none", "$eq": "none"}', '{}'), 'true',
  'the default is compared');
select is(qwf.resolve('{"$from": "a", "$filter": {"eq:k": 1}, "$eq": []}', '{"a": [{"k": 2}]}'),
  'true', 'the filtered list is compared');
