-- 6 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');
select qwf.create_schedule('x', 'report', cron => '0 * * * *', args => '{"a": 1}', queue => 'cpu',
  priority => 7, project => 'p');
select qwf_test.travel('1 min');
create temp table started as select * from qwf.fire_schedule('x');
select is((select job_id from started), qwf_test.job('report'), 'it returns the job');
select results_eq('select inputs, queue, priority, project, labels, schedule from qwf.jobs', $$
  values ('{"a": 1}'::jsonb, 'cpu', 7, 'p', '{"schedule": "x"}'::jsonb, 'x') $$,
  'as at its times, but without the label due');
select results_eq('select next_at, fired, last_due_at, last_fired_at, last_job_id
    from qwf.schedules', $$
  values (timestamptz '2026-03-01 13:00:00+00', 1::bigint, null::timestamptz,
    timestamptz '2026-03-01 12:01:30+00', qwf_test.job('report')) $$,
  'its next time stays, the rest is counted');
select results_eq('select kind, job_id, login, detail from _qwf.event_log
  where job_id is not null',
  $$ values ('fired', qwf_test.job('report'), qwf_test.login(), '{"schedule": "x"}'::jsonb) $$,
  'and who did it is written');
select qwf_test.set_now('2026-03-01 13:00:00+00');
select is(_qwf.fire_schedules(), 0, 'while it is not over, the next time is skipped');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
