-- 5 tests
-- The statement that people have in their scripts, as an administrator.
create function pg_temp.upsert(p_state text) returns void language sql as $$
  select qwf_test.as_role('qwf_admin', format('insert into qwf.worker_controls '
    '(host_label, queue, desired_state, stop_policy, requested_by) '
    'values (''host-a'', ''gpu'', %L, ''hard'', ''ops'') '
    'on conflict (host_label, queue) do update '
    'set desired_state = excluded.desired_state, updated_at = now()', p_state))
$$;
select qwf_test.set_now('2026-01-01 12:00Z');
select pg_temp.upsert('off');
select isnt_empty($$ select from qwf.switched_off where (host, queue) = ('host-a', 'gpu') $$,
  'off');
select qwf_test.set_now('2026-01-01 13:00Z');
select pg_temp.upsert('on');
select is_empty($$ select from qwf.switched_off where (host, queue) = ('host-a', 'gpu') $$, 'on');
select is((select updated_at from qwf.worker_controls), '2026-01-01 13:00Z'::timestamptz,
  'updated_at is of the clock of the engine');
update qwf.worker_controls set stop_policy = 'drain';
select is((select count(*) from _qwf.event_log), 3::bigint, 'a plain update is written down too');
select throws_ok($$
  insert into qwf.worker_controls (host_label, queue, desired_state) values ('a', 'gppu', 'off')
$$, 'QW006', null, 'an unknown queue is refused');
