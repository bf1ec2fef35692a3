-- 10 tests
-- A full disk, say: what has to wait until somebody makes room goes on then.
create function pg_temp.tg_fails() returns trigger language plpgsql as $$
begin
  raise exception using errcode = current_setting('qwf_test.sqlstate'), message = 'not now';
end $$;
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
create trigger fails before update on qwf.jobs for each row
when (new.node_id = 's/b' and new.status = 'queued') execute function pg_temp.tg_fails();
create function pg_temp.after_nine_tries(p_sqlstate text) returns setof qwf.outbox
language plpgsql as $$
begin
  perform set_config('qwf_test.sqlstate', p_sqlstate, true);
  for n in 1 .. 9 loop
    perform qwf.drain_outbox(), qwf_test.travel('1 min');
  end loop;
  return query select * from qwf.outbox;
end $$;

select set_config('qwf_test.sqlstate', '53100', true), qwf_test.attempt('s/a');
select results_eq(
  format('select tries, poisoned_at, error from pg_temp.after_nine_tries(%L)', sqlstate),
  format('values (0, null::timestamptz, %L)', sqlstate || ' not now'), what)
from (values ('53100', 'a full disk'), ('53200', 'no memory, for locks say'),
  ('55P03', 'a lock that is held too long'),
  ('40P01', 'a deadlock'), ('40001', 'a serialization failure')) error (sqlstate, what);
select is(qwf_test.run_state(), 'running', 'the run goes on');
select is(qwf_test.state('s/b'), 'blocked', 'and waits');
drop trigger fails on qwf.jobs;
select is(qwf.drain_outbox(), 1, 'until the cause is gone');
select is(qwf_test.state('s/b'), 'queued', 'then nothing is lost');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
