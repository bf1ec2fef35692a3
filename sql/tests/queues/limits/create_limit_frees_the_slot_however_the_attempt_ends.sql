-- 8 tests
select qwf.create_limit('api', 1);
create function pg_temp.held() returns bigint language sql as
  'select count(job_id) from qwf.limit_slots';
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api', max_attempts => 9);
select qwf_test.claim();
select is(pg_temp.held(), 1::bigint, 'held while it runs');
select qwf_test.report('t', 'released');
select is(pg_temp.held(), 0::bigint, 'released');
select qwf_test.attempt('t', 'error');
select is(pg_temp.held(), 0::bigint, 'failed, to be retried');
select qwf_test.attempt('t', 'lost');
select is(pg_temp.held(), 0::bigint, 'lost');
select qwf_test.claim(), qwf_test.lapse('t');
select is(pg_temp.held(), 0::bigint, 'reclaimed');
select qwf.claim('cpu', 'w'), qwf.cancel_job(qwf_test.job('t'));
select is(pg_temp.held(), 1::bigint, 'a job that should stop holds it until it has stopped');
select qwf_test.report('t', 'cancelled');
select is(pg_temp.held(), 0::bigint, 'cancelled');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
