-- 2 tests
select is(qwf.resolve('{"a": {"$from": "x"}}', '{"x": {"$from": "secret"}, "secret": 1}'),
  '{"a": {"$from": "secret"}}', 'an output that looks like a reference stays data');
select is(qwf.resolve('{"$from": "x", "$eq": 1}', '{"x": {"$value": 1}}'), 'false',
  'it is compared unresolved');
