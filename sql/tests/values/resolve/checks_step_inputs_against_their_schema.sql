-- 3 tests
select is((_qwf.resolve('{"$check": {"$from": ["n", "x"]}, "input": "s.cfg",
    "schema": {"type": "object", "properties": {"k": {"type": "integer", "default": 3}}}}',
  '{"n": {"x": {}}}')).value, '{"k": 3}', 'defaults are filled in');
select is((_qwf.resolve('{"a": {"$check": {"$from": ["n", "x"]}, "input": "s.cfg",
    "schema": {"type": "string"}}}', '{"n": {"x": 5}}')).error,
  'invalid: input s.cfg must be of type string, not number', 'a violation is an error');
select is((_qwf.resolve('{"$check": {"$from": ["n", "y"]}, "input": "s.cfg", "schema": {}}',
  '{"n": {}}')).error, 'unresolvable reference n.y', 'a missing value stays unresolvable');
