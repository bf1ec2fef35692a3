-- 6 tests
select qwf.create_queue('night', max_running => 2), qwf.create_limit('api', 1);
select qwf.enqueue('a', queue => 'night'), qwf.enqueue('b', queue => 'night', limit_by => 'api'),
  qwf.enqueue('c', queue => 'night'), qwf.enqueue('d', queue => 'night', limit_by => 'api'),
  qwf.enqueue('e', queue => 'night');
select is(qwf_test.claim('night', 9), 'claimed a, b', 'two, one of which also holds another limit');
select is(qwf_test.claim('night', 9), 'claimed nothing', 'no third');
select qwf_test.report('a');
select is(qwf_test.claim('night', 9), 'claimed c', 'd waits for its own limit');
select qwf_test.report('b'), qwf_test.report('c');
select is(qwf_test.claim('night', 9), 'claimed d, e', 'two');
select qwf.create_queue('night', lease => '1 min');
select is((select max_running from qwf.queues where name = 'night'), 2, 'what is not given stays');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
