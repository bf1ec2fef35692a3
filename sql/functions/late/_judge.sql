-- Deploy qwf:functions/late/_judge
-- Purpose: Looks every ten seconds for what is late or wrong: runs, jobs, workflows, schedules,
--   queues, boxes, jobs that fit no worker; and tells by events what begins and what ends.
-- Guarantees: Advice only: nothing is stopped. One caller at a time. Each look is bounded, and one
--   that reads many rows goes on where the last one ended. If nobody looked for a minute, no tick
--   ran: that is an event, too. Of queues it reads the first jobs only; one that is paused waits on
--   purpose, and those of the engine itself, qwf.*, are not judged.
-- Locks: the row of _qwf.judged; while another transaction has it, it does nothing. Then as the
--   looks do.
-- Called by: _tick_part.

begin;

create function _qwf.judge() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_judged _qwf.judged;
begin
  select g.* into v_judged from _qwf.judged g for no key update skip locked;
  if not found or v_now between v_judged.at and v_judged.at + interval '10 s' then
    return 0;
  end if;
  update _qwf.judged g set at = v_now;
  insert into _qwf.event_log (at, kind, subject, detail)
  select v_now, 'ticks_missed', 'engine', jsonb_build_object('since', v_judged.at,
    'seconds', round(extract(epoch from v_now - v_judged.at)))
  where v_judged.at < v_now - interval '1 min';
  return least(_qwf.judge_runs(v_judged.run_floor, v_now) + _qwf.judge_jobs(v_now)
    + _qwf.tell_states('overdue', 'overdue', null, array(
      select (o.name, jsonb_build_object('workflow', o.name), jsonb_strip_nulls(jsonb_build_object(
        'last_success', o.last_success, 'every', floor(date_part('epoch', o.every))))
        )::_qwf.wrong_now
      from _qwf.overdue_workflows(v_now) o), v_now)
    + _qwf.judge_schedules(v_now)
    + _qwf.tell_states('queue_waits', 'queue_waits', 'queue_moves', array(
      select (q.name, jsonb_build_object('queue', q.name), jsonb_build_object(
        'head_wait', floor(date_part('epoch', v_now - c.head_since)),
        'expected', floor(date_part('epoch', q.within))))::_qwf.wrong_now
      from (
        select n.name, _qwf.as_interval(n.expect -> 'starts_within') as within
        from qwf.queues n
        where n.expect ? 'starts_within' and not n.paused and n.name not like 'qwf.%') q
      cross join lateral _qwf.count_queued(q.name, 1) c
      where c.queued > 0 and c.head_since < v_now - q.within), v_now)
    + _qwf.judge_hosts(v_now) + _qwf.judge_unassignable(v_now), 99);
end $$;

commit;
