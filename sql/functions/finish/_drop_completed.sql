-- Deploy qwf:functions/finish/_drop_completed
-- Purpose: Ends attempts that completed on queues that keep no completed jobs: deletes the job and
--   everything kept about it, and counts the attempt.
-- Guarantees: The fence, as in _write_completed: only a report with the job's current token deletes
--   anything. Keeps what somebody still needs: nodes of runs, jobs whose key is used once, and jobs
--   that wrote files. _write_completed ends those. Returns the ids and tokens of the jobs it ended,
--   and the keys that are free for the next.
-- Locks: the jobs, by id; if some are kept, also those, in the same order.
-- Called by: _end_attempts.

begin;

create function _qwf.drop_completed(
  p_reports _qwf.report[], p_now timestamptz, out ids bigint[], out tokens uuid[],
  out keys _qwf.job_key[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues text[] := array(select q.name from qwf.queues q where not q.keep_completed);
  v_retried bigint[];
begin
  if cardinality(p_reports) > 1 and (
    select count(*) filter (where j.queue <> all (v_queues) or j.run_id is not null or j.once
        or j.id = any (array(
          select u.job_id from unnest(p_reports) u where _qwf.is_unusual(u.detail))))
      between 1 and count(*) - 1
    from qwf.jobs j
    where j.id = any (array(select u.job_id from unnest(p_reports) u)))
  then
    perform _qwf.lock_attempts(p_reports);  -- all by id: those that are kept are written later
  end if;
  with ended as (
    delete from qwf.jobs j
    using (select u.* from unnest(p_reports) u order by u.job_id) r
    where j.id = r.job_id and j.token = r.token
      and j.queue = any (v_queues)
      and j.run_id is null and not j.once and not _qwf.is_unusual(r.detail)
    returning j.id, r.token, j.attempt, j.queue, j.task, j.queued_at, j.claimed_at, j.project,
      j.key, j.key_state
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, 'completed',
      array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
      array_agg(date_part('epoch', p_now - e.claimed_at)::real)
    from ended e
    group by e.queue, e.task
  )
  select array_agg(e.id), array_agg(e.token), array_agg(e.id) filter (where e.attempt > 1),
    array_agg((e.project, e.task, e.key)::_qwf.job_key) filter (where e.key_state = 's')
    into ids, tokens, v_retried, keys
  from ended e;
  delete from qwf.job_events e where e.job_id = any (ids);
  delete from qwf.live_logs l where l.job_id = any (ids);
  if v_retried is not null then
    perform _qwf.delete_jobs(v_retried);
  end if;
end $$;

commit;
