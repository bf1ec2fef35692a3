-- Deploy qwf:functions/finish/_wake_for_keys
-- Purpose: Wakes somebody for each job that waited for the one of its key to end.
-- Notifies: sleepers of the queues of those jobs.
-- Called by: _end_attempts.

begin;

create function _qwf.wake_for_keys(p_keys _qwf.job_key[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.wake(n.queue, count(*)::int)
  from unnest(p_keys) s
  cross join lateral (  -- from the index jobs_key
    select o.queue from qwf.jobs o
    where o.project = s.project and o.task = s.task and o.key = s.key and o.key is not null
      and (o.key_state = 's') = false and o.status = 'queued'
  ) n
  group by n.queue;
end $$;

commit;
