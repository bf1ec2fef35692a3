-- 6 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table held as select * from qwf.jobs;
select is(qwf.cancel_job(qwf_test.job('a'), 'too slow'), 'requested', 'not yet cancelled');
select results_eq('select * from qwf.jobs', 'select * from held',
  'the row of a running job is never touched');
select results_eq('select job_id, login, reason, requested_at from qwf.cancel_requests', $$
  values (qwf_test.job('a'), qwf_test.login(), 'too slow',
    '2030-01-01'::timestamptz) $$, 'who asked, and why');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('a')])), 'cancel',
  'its worker is told');
select qwf_test.report('a', 'cancelled');
select is(qwf_test.state('a'), 'cancelled', 'and stops it');
select is_empty('select * from qwf.cancel_requests', 'the request is settled');
