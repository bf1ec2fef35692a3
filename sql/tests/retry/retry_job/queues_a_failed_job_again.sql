-- 5 tests
select qwf.enqueue('a', key => 'k');
select throws_ok(
  format('select qwf.retry_job(%s)', qwf_test.job('a')), 'QW002', null, 'not while it waits');
select qwf_test.claim('default');
select qwf_test.report('a', 'fatal', error => 'boom');
select qwf.retry_job(qwf_test.job('a'));
select is(
  (select row(status, failures, attempt, retries, last_error)::text from qwf.jobs),
  '(queued,0,1,1,)', 'it is queued');
select qwf_test.claim('default');
select qwf_test.report('a', 'fatal', error => 'boom');
create temp table first as select qwf_test.job('a') as id;
select qwf.enqueue('a', key => 'k');
select throws_ok(
  format('select qwf.retry_job(%s)', (select id from first)),
  'QW008', null, 'not when its key is taken');
select throws_ok('select qwf.retry_job(4711)', 'QW001', null, 'no such job');
select is_empty('select * from qwf.check_invariants()', 'healthy');
