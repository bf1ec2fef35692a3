-- 3 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select is(pg_temp.finds('runs'), 'fine: Events are applied.', 'they are');
insert into qwf.outbox (run_id, kind, error, poisoned_at)
values (7, 'stop', E'division\n by zero', qwf.now());
select is(pg_temp.finds('runs'), 'problem: run 7: an event could not be applied: division by zero '
  '-> read the reason, fix it, then: qwf retry run 7', 'one was given up');
delete from qwf.outbox;
select qwf_test.travel('0');
insert into qwf.outbox (run_id, kind, created_at) values (8, 'stop', qwf.now() - interval '1 h');
select is(pg_temp.finds('runs'), 'problem: 1 events wait to be applied, the oldest for 1 h 00 min '
  '(run 8) -> does an agent tick? Does an open transaction hold the run? qwf tick prints '
  'what fails',
  'one waits');
