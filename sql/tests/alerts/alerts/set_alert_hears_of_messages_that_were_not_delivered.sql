-- 4 tests
create function pg_temp.fail_one() returns bigint language sql as $$
  select count(f) from qwf.claim('qwf.alerts', qwf.register_worker('box', 'qwf.alerts',
    '{"labels": {"receiver.ops": "true", "receiver.ada": "true"}}')) c
  cross join lateral qwf.finish(c.job_id, c.token, 'fatal',
    error => E'refused\nTraceback (most recent call last):') f $$;
select qwf.set_alert('ops', '{"when": ["worker_dead"], "do": {"receiver": "ops"}}');
select qwf.set_alert('meta', '{"when": ["alert_failed"], "do": {"receiver": "ada"}}');
select qwf.test_alert('ops');
select is(pg_temp.fail_one(), 1::bigint, 'the message of ops is not delivered');
select qwf.tick();
select results_eq('select rule, kind, subject from qwf.open_alerts',
  $$ values ('meta', 'alert_failed', 'ops') $$, 'meta hears of it');
select is(delivery_error, 'refused', 'in one line') from qwf.message_overview where rule = 'ops';
select pg_temp.fail_one(), qwf.tick();
select results_eq('select rule, events from qwf.open_alerts', $$ values ('meta', 1::bigint) $$,
  'its own message makes no other one');
