-- 5 tests
-- A schedule of 03:30 that does not fire, one whose run fails, and one whose run hangs: half an
-- hour later, its `takes`, somebody hears of each, once.
select qwf_test.set_now('2030-01-01 00:00+00');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule(name, workflow => 'w', cron => '30 3 * * *',
  expect => '{"takes": "30 min"}')
from unnest('{silent,fails,hangs}'::text[]) name;
select qwf.register_worker('box', 'cpu');
select qwf.set_alert('night', '{"when": ["schedule_late"], "do": {"receiver": "ops"}}');
create function pg_temp.sent(p_now timestamptz) returns text language plpgsql as $$ begin
  perform qwf_test.set_now(p_now), qwf.heartbeat(w.id) from qwf.workers w;
  perform _qwf.close_firings(), _qwf.number_and_match(), _qwf.learn_runs(), _qwf.judge();
  perform _qwf.number_and_match();
  return (select string_agg(m.state || ' ' || m.subject, ', ' order by m.subject)
    from qwf.alert_messages m where m.created_at = p_now); end $$;

update qwf.schedules set next_at = next_at + interval '1 day' where name = 'silent';
select qwf_test.set_now('2030-01-01 03:30+00'), _qwf.fire_schedules();
create temp table held as
select c.* from qwf.workers w cross join lateral qwf.claim('cpu', w.id, 2) c;
select qwf.finish(h.job_id, h.token, 'fatal')
from held h join qwf.firings f on f.run_id = h.run_id
where f.schedule = 'fails';
select results_eq('select status::text from qwf.runs order by 1', array['failed', 'running'],
  'one fails, one hangs');
select is(pg_temp.sent('2030-01-01 03:59+00'), null, 'they may take half an hour');
select is(pg_temp.sent('2030-01-01 04:00:10+00'), 'open fails, open hangs, open silent',
  'then each is told');
select is(pg_temp.sent('2030-01-01 05:00+00'), null, 'once');
select is_empty('select * from qwf.check_invariants()', 'invariants');
