-- 2 tests
select throws_ok($$ select qwf.enqueue_many('{"task": "a"}') $$, 'QW005', 'jobs must be a list',
  'an object');
select throws_ok('select qwf.enqueue_many(null)', 'QW005', 'jobs must be a list', 'null');
