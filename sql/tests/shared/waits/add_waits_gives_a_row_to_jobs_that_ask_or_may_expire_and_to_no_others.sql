-- 13 tests
create function pg_temp.waits() returns text language sql as $$
  select string_agg(format('%s %s since %s until %s', coalesce(j.node_id, j.task), w.kind,
    to_char(w.since, 'HH24:MI'), to_char(w.at, 'HH24:MI')), ', ' order by w.job_id)
  from qwf.waits w join qwf.jobs j on j.id = w.job_id
$$;
select qwf_test.set_now('2030-01-01 10:00Z'), set_config('timezone', 'UTC', true);
select qwf.enqueue('plain'), qwf.enqueue('later', run_at => '2030-01-01 11:00Z');
select is(pg_temp.waits(), null, 'jobs that only wait for a worker, or for a time');
select qwf.enqueue('mail', on_failure => 'ask', expires => '1 h');
select is(pg_temp.waits(), 'mail deadline since  until 11:00', 'one that may expire');
select qwf_test.attempt('plain'), qwf_test.attempt('mail', 'error');
select is(pg_temp.waits(), 'mail question since 10:00 until ',
  'a question about what was started in time');
select qwf.answer_job(qwf_test.job('mail'), '"retry"');
select is(pg_temp.waits(), null, 'a retry has no deadline');
select qwf_test.attempt('mail', 'fatal'), qwf.cancel_job(qwf_test.job('mail'));
select is(pg_temp.waits(), null, 'a question that is withdrawn');

select qwf.enqueue('edit', key => 'k', expires => '1 h');
select qwf.enqueue('edit', key => 'k', expires => '2 h');
select is(pg_temp.waits(), 'edit deadline since  until 12:00', 'the later of two callers');
select qwf.enqueue('edit', key => 'k', expires => '10 min', key_mode => 'replace');
select is(pg_temp.waits(), 'edit deadline since  until 10:10', 'a replaced job');
select qwf.enqueue('edit', key => 'k');
select is(pg_temp.waits(), null, 'a caller with patience');
select count(*) from qwf.enqueue_many('[{"task": "a", "expires": "1 h"}, {"task": "b"},
  {"task": "c", "key": "k", "expires": "2 h"}]');
select is(pg_temp.waits(), 'a deadline since  until 11:00, c deadline since  until 12:00',
  'jobs of a list');
select qwf.cancel_job(qwf_test.job('a'));
select is(pg_temp.waits(), 'c deadline since  until 12:00', 'one of them is cancelled');
select qwf_test.travel('2 h'), _qwf.expire_jobs();
select is(pg_temp.waits(), null, 'the other expires');

select qwf_test.question('text', '{"expires": "3 h"}');
select is(pg_temp.waits(), 'ask question since 12:00 until 15:00', 'an input');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
