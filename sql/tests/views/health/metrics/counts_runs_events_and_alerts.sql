-- 8 tests
-- Runs by workflow and status, events by kind, open alerts by rule, and messages that failed.
create function pg_temp.figure(p_name text, p_labels jsonb default '{}') returns float8
language sql as $$
  select m.value from qwf.metrics m where m.name = p_name and m.labels = p_labels $$;
create function pg_temp.ends(p_workflow text, p_status text, p_seconds float, p_alert text = null)
returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject, names, detail)
  values (qwf.now(), 'run_ended', p_workflow, jsonb_strip_nulls(jsonb_build_object('workflow',
    p_workflow, 'alert', p_alert)),
    jsonb_build_object('status', p_status, 'seconds', p_seconds)) $$;

select qwf_test.set_now('2030-01-01');
select qwf.set_alert('bad', '{"when": ["run_ended"], "do": {"receiver": "ops"}}');
select pg_temp.ends('w', 'failed', 1), pg_temp.ends('w', 'completed', 0.002),
  pg_temp.ends('w', 'completed', 3), pg_temp.ends('v', 'failed', 1), qwf.tick();
select is(pg_temp.figure('qwf_run_seconds_bucket',
  '{"workflow": "w", "status": "completed", "le": "0.002986"}'), 1::float8, 'one below 3 ms');
select is(pg_temp.figure('qwf_run_seconds_bucket',
  '{"workflow": "w", "status": "completed", "le": "+Inf"}'), 2::float8, 'two in all');
select is(pg_temp.figure('qwf_run_seconds_sum', '{"workflow": "w", "status": "failed"}'),
  1::float8, 'failed ones by themselves');
select is(pg_temp.figure('qwf_events_total', '{"kind": "run_ended"}'), 4::float8, 'four ends');
select is(pg_temp.figure('qwf_alerts_open', '{"rule": "bad"}'), 2::float8, 'two are open');
select is(pg_temp.figure('qwf_alert_failures_total'), 0::float8, 'none has failed');
select pg_temp.ends('v', 'failed', 1, 'bad'), qwf.tick(), qwf.tick();
select is(pg_temp.figure('qwf_alert_failures_total'), 1::float8,
  'a run that a rule started has failed; another tick counts nothing twice');
insert into _qwf.run_totals
select 'a' || to_char(n, 'FM000'), 'completed', 4, 8, array_fill(3, array[17])
from generate_series(1, 200) n;
select is(pg_temp.figure('qwf_run_seconds_count', '{"workflow": "other", "status": "completed"}'),
  2::float8, 'workflows after the first 200 are one');
