-- 5 tests
select qwf.enqueue('a', key => 'k'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.claim('default', 3);
select qwf_test.report('a', 'fatal'), qwf_test.report('b', 'fatal'), qwf_test.report('c');
create temp table failed as select qwf_test.job('a') as a;
select qwf.enqueue('a', key => 'k');
select results_eq(format($$
  select job_id, verdict, code, message from qwf.retry_jobs('{%1$s,%2$s,900000000000,%3$s,%2$s}')
  order by job_id $$, (select a from failed), qwf_test.job('b'), qwf_test.job('c')),
  format($$ values (%s::bigint, 'refused', 'QW008', 'the key of the job is taken'),
    (%s, 'retried', null, null),
    (%s, 'refused', 'QW002', 'the job has not failed or been cancelled'),
    (900000000000, 'refused', 'QW001', 'no such job') $$,
    (select a from failed), qwf_test.job('b'), qwf_test.job('c')),
  'one row each, once, and a refusal does not stop the others');
select is(qwf_test.state('b'), 'queued', 'the one that could be retried is queued');
select is(
  (select detail || ' / ' || hint from qwf.retry_jobs(array[qwf_test.job('c')])),
  format('job %s is completed / enqueue it again to run it a second time', qwf_test.job('c')),
  'a refusal says what to do');
select is(
  (select detail || ' / ' || hint from qwf.retry_jobs(array[qwf_test.job('b')])),
  format('job %s is queued / it is not over: ask why_not() what it waits for', qwf_test.job('b')),
  'also of one that runs again by itself');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
