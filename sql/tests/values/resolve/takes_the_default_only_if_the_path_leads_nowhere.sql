-- 7 tests
select is(qwf.resolve('{"$from": "a.b", "$default": 5}', '{"a": {}}'), '5', 'a missing member');
select is(qwf.resolve('{"$from": "a.b", "$default": 5}', '{"a": 3}'), '5', 'a path into a number');
select is(qwf.resolve('{"$from": "a.b.c", "$default": 5}', '{"a": {"b": null}}'), '5',
  'a path into null');
select is(qwf.resolve('{"$from": "a.2", "$default": 5}', '{"a": [1, 2]}'), '5', 'past the end');
select is(qwf.resolve('{"$from": "a.b", "$default": 5}', '{"a": {"b": null}}'), 'null',
  'null is a value');
select is(qwf.resolve('{"$from": "x", "$default": null}', '{}'), 'null', 'a default of null');
select is(qwf.resolve('{"$from": "x", "$default": {"$from": "a"}}', '{"a": 1}'), '1',
  'a default that is a reference');
