-- Deploy qwf:functions/finish/_wake_for_ended
-- Purpose: Wakes somebody for each job that went back to its queue, and for each job that waited
--   for one of its key to end.
-- Guarantees: p_keys: those of jobs that completed; p_ended: what ended otherwise. A job that goes
--   back to its queue comes before the one that waits for its key.
-- Notifies: sleepers of the queues of those jobs.
-- Called by: _end_attempts.

begin;

create function _qwf.wake_for_ended(p_keys _qwf.job_key[], p_ended _qwf.ended[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.wake(e.queue, count(*)::int)
  from unnest(p_ended) e
  where e.status = 'queued'
  group by e.queue;
  perform _qwf.wake(n.queue, count(*)::int)
  from (
    select k.project, k.task, k.key from unnest(p_keys) k
    union all
    select j.project, j.task, j.key
    from unnest(p_ended) e join qwf.jobs j on j.id = e.id
    where e.status <> 'queued' and e.run_id is null and j.key_state = 's'
  ) s
  cross join lateral (  -- from the index jobs_key
    select o.queue from qwf.jobs o
    where o.project = s.project and o.task = s.task and o.key = s.key and o.key is not null
      and (o.key_state = 's') = false and o.status = 'queued'
  ) n
  group by n.queue;
end $$;

commit;
