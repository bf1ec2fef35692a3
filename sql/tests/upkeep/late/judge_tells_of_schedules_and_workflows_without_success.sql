-- 8 tests
select qwf_test.set_now('2030-01-01 00:00+00');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a", "queue": "cpu"}],
  "expect": {"every": "26 h"}}');
update qwf.workflows set registered_at = qwf.now();
select qwf.register_worker('box', 'cpu');
select throws_ok($$ select qwf.create_schedule('s', workflow => 'w', cron => '30 3 * * *',
  expect => '{"takes": "soon", "takez": 1}') $$, 'QW005',
  'invalid schedule', 'what is no duration is refused');
select qwf.create_schedule('s', workflow => 'w', cron => '30 3 * * *',
  expect => '{"takes": "30 min"}');
create function pg_temp.told(p_now timestamptz) returns text language plpgsql as $$ begin
  perform qwf_test.set_now(p_now);
  perform _qwf.close_firings(), _qwf.number_events(), _qwf.learn_runs(), _qwf.judge();
  return (select string_agg(e.kind, ' ' order by e.id) from _qwf.event_log e
    where e.kind like 'schedule\_%' and e.kind <> 'schedule_changed' or e.kind = 'overdue'); end $$;
select is(pg_temp.told('2030-01-01 03:59+00'), null, 'half an hour after its time');
select is(pg_temp.told('2030-01-01 04:01+00'), 'schedule_late', 'it has not fired: it is late');
select is(pg_temp.told('2030-01-01 05:00+00'), 'schedule_late', 'that is told once');
select is((select detail from _qwf.event_log where kind = 'schedule_late'),
  '{"takes": 1800, "due_at": "2030-01-01T03:30:00+00:00"}'::jsonb, 'for which time is said');
select is(pg_temp.told('2030-01-02 03:00+00'), 'schedule_late overdue',
  'nothing has succeeded for 26 hours');
do $$ declare v_job qwf.claimed_job; begin
  perform _qwf.fire_schedules();
  select c.* into v_job from qwf.claim('cpu', (select w.id from qwf.workers w)) c;
  perform qwf_test.travel('1 min');
  perform qwf.finish(v_job.job_id, v_job.token, 'completed');
end $$;
select is(pg_temp.told('2030-01-02 03:10+00'), 'schedule_late overdue schedule_ok',
  'a success ends both');
select is_empty($$ select kind from _qwf.open_states $$, 'nothing is wrong any more');
