-- 3 tests
select qwf.enqueue('a', max_attempts => 5, backoff => '[0]');
select qwf_test.claim('default');
create temp table old as select token from qwf.jobs;
select qwf_test.report('a', 'error', error => 'boom');
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'error', error => 'boom'), 'ok',
  'its answer was lost');
select qwf_test.claim('default');
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'error', error => 'boom'), 'ok',
  'also when the next attempt runs');
select results_eq('select status::text, failures, attempt from qwf.jobs', $$
  values ('running', 1, 2) $$,
  'it is counted once');
