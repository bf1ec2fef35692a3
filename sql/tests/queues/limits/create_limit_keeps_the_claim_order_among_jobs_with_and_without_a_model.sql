-- 2 tests
-- A worker without a loaded model has no preference.
create temp table worker as select qwf_test.worker() as id;
select qwf.create_limit('api', 1);
select qwf.enqueue('a', queue => 'gpu', limit_by => 'api', model => 'sam'),
  qwf.enqueue('b', queue => 'gpu'), qwf.enqueue('c', queue => 'gpu');
select is(qwf_test.gets(id, 2), 'a, b', 'in order') from worker;
select is(qwf_test.gets(id, 2), 'c', 'the rest') from worker;
