-- 15 tests
-- One alert for a subject: the first failure sends, more only count, `repeat` says how many, and a
-- good end after a calm time sends resolved.
create function pg_temp.ends(p_workflow text, p_status text) returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject, names, detail)
  values (qwf.now(), 'run_ended', p_workflow, jsonb_build_object('workflow', p_workflow),
    jsonb_build_object('status', p_status)) $$;
create function pg_temp.sent() returns setof text language sql as $$
  select concat_ws(' ', m.state, m.subject, j.inputs #>> '{message,count}',
    j.inputs #>> '{message,more}')
  from qwf.alert_messages m join qwf.jobs j on j.id = m.sent_job
  where m.created_at = qwf.now() order by j.id $$;

select qwf_test.set_now('2030-01-01');
select qwf.set_alert('bad', '{"when": ["run_ended"], "do": {"receiver": "ops"}}');
select pg_temp.ends('w', 'failed'), pg_temp.ends('w', 'failed'), pg_temp.ends('v', 'completed'),
  pg_temp.ends('v', 'cancelled');
select is(qwf.tick() ->> 'numbered', '5', 'four events, and the one of the rule');
select results_eq('select pg_temp.sent()', array['open w 2'], 'one message');
select results_eq($$ select j.task, j.queue, j.requires, j.labels, (j.options).max_attempts,
    j.inputs ->> 'receiver', (j.inputs -> 'message') - '{id,thread}'::text[] from qwf.jobs j $$, $$
  values ('qwf.send', 'qwf.alerts', '{"receiver.ops": "true"}'::jsonb,
    '{"qwf.alert": "bad"}'::jsonb, 8, 'ops', '{"v": 1, "state": "open",
    "rule": "bad", "kind": "run_ended", "subject": "w",
    "count": 2, "opened": "2030-01-01T00:00:00+00:00", "first": "2030-01-01T00:00:00+00:00",
    "last": "2030-01-01T00:00:00+00:00", "names": {"workflow": "w"},
    "detail": {"status": "failed"}}'::jsonb) $$, 'its job, for an agent that has the receiver');
select qwf_test.travel('1 min'), pg_temp.ends('w', 'failed'), qwf.tick();
select is_empty('select pg_temp.sent()', 'more only count');
select qwf_test.travel('5 min'), pg_temp.ends('w', 'completed'), qwf.tick();
select qwf_test.travel('9 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'a good end, and no calm time yet');
select pg_temp.ends('w', 'failed'), qwf.tick();
select qwf_test.travel('2 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'it failed again, and is not over');
select qwf_test.travel('6 h'), qwf.tick();
select results_eq('select pg_temp.sent()', array['still w 4 2'], 'after repeat: how many more');
select pg_temp.ends('w', 'completed'), qwf.tick(), qwf_test.travel('10 min');
select qwf.tick();
select results_eq('select pg_temp.sent()', array['resolved w 4'], 'it is over');
select is((select count(*) from qwf.open_alerts where closed_at is null), 0::bigint,
  'none is open');
select qwf_test.travel('1 h'), pg_temp.ends('w', 'failed'), qwf.tick();
select is_empty('select pg_temp.sent()', 'within repeat it opens again in silence');
select pg_temp.ends('w', 'completed'), qwf.tick(), qwf_test.travel('10 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'and closes in silence');
select pg_temp.ends('w', 'failed'), qwf.tick(), qwf_test.travel('6 h');
select qwf.tick();
select results_eq('select pg_temp.sent()', array['open w 1'], 'later it is told');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select qwf.set_alert('bad', null);
select is_empty('select * from qwf.open_alerts', 'a rule that is dropped takes its alerts along');
select results_eq($$ select kind, subject from qwf.audit
    where kind = 'alert_changed' order by id $$,
  $$ values ('alert_changed', 'bad'), ('alert_changed', 'bad') $$, 'who set and dropped it');
