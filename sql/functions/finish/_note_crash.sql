-- Deploy qwf:functions/finish/_note_crash
-- Purpose: Counts that a task has killed its process, and holds it back if it has done so on two
--   boxes, or four times where there is no other box, and has not ended in another way meanwhile.
-- Guarantees: What the task does elsewhere counts: an attempt that ended in another way begins the
--   count again, and so does an hour. Each hold that follows on a crash of the trial is twice as
--   long, up to an hour. An event tells of each.
-- Locks: the row of held_tasks, then the workers that are free; the caller has locked the job.
-- Called by: _weigh_outcomes.

begin;

create function _qwf.note_crash(p_job qwf.jobs, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hold interval := (select s.crash_hold from qwf.settings s);
  v_host text := coalesce(
    (select w.host from qwf.workers w where w.id = p_job.claimed_by), p_job.claimed_by);
  v_ends bigint := (
    select coalesce(sum(t.count), 0) from qwf.attempt_totals t
    where t.queue = p_job.queue and t.task = p_job.task
      and t.outcome not in ('lost', 'released', 'cancelled')
    ) + (
    select coalesce(sum(cardinality(c.runs)), 0) from qwf.attempt_counts c
    where c.queue = p_job.queue and c.task = p_job.task
      and c.outcome not in ('lost', 'released', 'cancelled'));
  v_task qwf.held_tasks;
  v_is_held boolean;
begin
  insert into qwf.held_tasks as h (queue, task, hosts, crashes, other_ends, crashed_at)
  values (p_job.queue, p_job.task, array[v_host], 1, v_ends, p_now)
  on conflict (queue, task) do update set (hosts, crashes, other_ends, crashed_at) = (
    select case when s.goes_on then array(
        select distinct u.host from unnest(h.hosts || v_host) u (host) order by u.host)
        else array[v_host] end,
      case when s.goes_on then h.crashes + 1 else 1 end, v_ends, p_now
    from (select h.until is not null
      or h.other_ends = v_ends and h.crashed_at > p_now - interval '1 h') s (goes_on))
  returning h.* into v_task;
  v_is_held := v_hold > '0 s' and case
    when v_task.until is not null
      then (p_job.id, p_job.attempt) = (v_task.trial_job, v_task.trial_attempt)
    else cardinality(v_task.hosts) > 1 or v_task.crashes > 3 and not exists (
      select from qwf.workers w cross join qwf.settings s
      where w.queue = v_task.queue and w.host <> v_host and w.stopped_at is null
        and w.last_seen > p_now - s.worker_stale
        and (w.tasks is null or v_task.task = any (w.tasks))) end;
  if v_is_held is not true then
    return;
  end if;
  update qwf.held_tasks h set
    until = p_now + least(v_hold * 2 ^ least(h.holds, 16), greatest(v_hold, '1 h')),
    holds = h.holds + 1, trial_job = null, trial_attempt = null
  where h.queue = v_task.queue and h.task = v_task.task
  returning h.* into v_task;
  perform _qwf.spread_holds();
  insert into _qwf.event_log (at, kind, subject, names, detail)
  values (p_now, 'task_held', v_task.task,
    jsonb_build_object('task', v_task.task, 'queue', v_task.queue),
    jsonb_build_object('queue', v_task.queue, 'hosts', v_task.hosts, 'crashes', v_task.crashes,
      'until', v_task.until));
end $$;

commit;
