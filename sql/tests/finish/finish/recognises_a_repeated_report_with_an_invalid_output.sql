-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table old as select token from qwf.jobs;
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'completed', '[1]'), 'ok',
  'it counts as a failure');
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'completed', '[1]'), 'ok',
  'and is recognised');
