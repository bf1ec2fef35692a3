-- 4 tests
-- A nightly job still runs tonight if the server lacks memory for a second.
create function pg_temp.tg_fails() returns trigger language plpgsql as $$
begin
  raise exception using errcode = '53200', message = 'not now';
end $$;

select qwf.create_schedule('nightly', task => 't', every => '1 day', catch_up => 'none');
select qwf_test.set_now((select s.next_at from qwf.schedules s));
create trigger fails before insert on qwf.jobs for each row execute function pg_temp.tg_fails();
select throws_ok('select _qwf.fire_schedules()', '53200', 'not now', 'the caller sees the error');
select results_eq(
  'select failed, next_at = qwf.now() from qwf.schedules', 'values (0::bigint, true)',
  'the schedule stays due');
drop trigger fails on qwf.jobs;
select is(_qwf.fire_schedules(), 1, 'the next call fires it');
select results_eq($$ select task, schedule from qwf.jobs $$, $$ values ('t', 'nightly') $$,
  'for the same time');
