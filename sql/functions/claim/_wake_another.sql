-- Deploy qwf:functions/claim/_wake_another
-- Purpose: Wakes one sleeper that could take a job which the worker that looked cannot.
-- Guarantees: Only one that fell asleep before the job was queued: once it has looked it sleeps
--   anew, so that a wake-up is passed on once to each, and ends. Looks at the first 64 jobs; what
--   is missed costs a poll.
-- Locks: advisory (7177, hash of the worker), tried only.
-- Notifies: the channel of the sleeper.
-- Called by: claim that found less than it asked for.

begin;

create function _qwf.wake_another(p_queue text, p_worker qwf.workers, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if nullif(current_setting('qwf.floors', true), '')::jsonb ? _qwf.floor_key(p_queue, p_worker.id)
    or not exists (
      select from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null)
  then
    return;  -- nothing there; or what was claimed would have to be walked past: see _keep_floor
  end if;
  perform pg_notify(qwf.wake_channel(chosen.worker), p_queue)
  from (
    select asleep.worker
    from (
      select j as job
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      order by j.run_next desc, j.priority, j.position
      limit 64
    ) head
    cross join lateral (
      select s.worker
      from qwf.sleepers s
      left join qwf.workers w on w.id = s.worker
      where s.queue = p_queue and s.since > p_now - interval '15 s'
        and s.since < (head.job).queued_at and s.worker is distinct from p_worker.id
        and _qwf.fits(head.job, w, p_now)
      limit 1
    ) asleep
    where not _qwf.fits(head.job, p_worker, p_now)
      and pg_try_advisory_xact_lock(7177, hashtext(asleep.worker))
    limit 1
  ) chosen;
end $$;

commit;
