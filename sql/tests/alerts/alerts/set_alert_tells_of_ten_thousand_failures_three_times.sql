-- 5 tests
-- Ten thousand jobs of a task fail within a minute: one message, one that says how many more, and
-- one that it is over. A rule that raises in the middle of it gets its error, and stops nobody.
create function pg_temp.fails(p_times int) returns void language sql as $$
  with failed as (
    insert into qwf.jobs (task, queue, status, finished_at)
    select 'load', 'gpu', 'failed', qwf.now() from generate_series(1, p_times)
    returning id)
  insert into _qwf.event_log (at, kind, job_id) select qwf.now(), 'job_failed', id from failed $$;
create function pg_temp.sent() returns setof text language sql as $$
  select concat_ws(' ', m.rule, m.state, m.subject, j.inputs #>> '{message,more}')
  from qwf.alert_messages m join qwf.jobs j on j.id = m.sent_job
  where m.created_at = qwf.now() order by j.id $$;
create function pg_temp.ticks() returns void language plpgsql as $$ begin
  while exists (select from _qwf.event_log e where e.seq is null) loop perform qwf.tick(); end loop;
end $$;

select qwf_test.set_now('2030-01-01');
select qwf.set_alert(name, '{"when": ["job_failed"], "do": {"receiver": "ops"}, "within": "8 h"}')
from unnest('{a,broken,z}'::text[]) name;
update qwf.alerts set rule = rule || '{"more_than": 1e30}' where name = 'broken';
select pg_temp.fails(1), qwf.tick();
select results_eq('select pg_temp.sent()', array['a open load', 'z open load'],
  'the first one is told, by the rules that do not raise');
select pg_temp.fails(9999), pg_temp.ticks(), qwf_test.travel('1 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'the others only count');
select qwf_test.travel('6 h'), qwf.tick();
select results_eq('select pg_temp.sent()', array['a still load 9999', 'z still load 9999'],
  'after repeat: how many more');
select qwf_test.travel('2 h'), qwf.tick();
select results_eq('select pg_temp.sent()', array['a resolved load', 'z resolved load'],
  'nothing more happened');
select results_eq($$ select name from qwf.alerts where last_error is not null $$, array['broken'],
  'the rule that raises says so');
