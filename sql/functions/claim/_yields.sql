-- Deploy qwf:functions/claim/_yields
-- Purpose: True when a worker should leave the next job of a queue with placement pack to a better
--   worker, which it wakes.
-- Guarantees: Better is who has the higher rank, then more slots, then the first name of its host.
--   Yields only to one that is asleep (hence has room), that is on, and that fits the first job
--   which this worker could take; and only while that job has waited less than
--   settings.pack_patience. So no job waits longer while anybody asks. A worker to which two jobs
--   were left in vain does not count until it claims, so one that never claims delays no more than
--   two. Looks at the first 64 jobs without a limit: jobs with one are not packed.
-- Locks: the row in sleepers of this worker, or of one that did not answer, if it is free.
-- Notifies: the channel of the better worker.
-- Called by: _pick_special.

begin;

create function _qwf.yields(p_queue text, p_worker qwf.workers, p_now timestamptz) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job qwf.jobs;
  v_better text;
  v_in_vain boolean;
begin
  if p_worker.id is null then
    return false;  -- not registered: nobody knows how good it is
  end if;
  update qwf.sleepers s set unanswered = 0
  where s.ctid = (
    select f.ctid from qwf.sleepers f
    where f.queue = p_queue and f.worker = p_worker.id and f.unanswered > 0
    for update skip locked);
  select (h.job).* into v_job
  from (
    select j as job from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position
    limit 64
  ) h
  where _qwf.fits(h.job, p_worker, p_now)
  limit 1;
  if not found then
    return false;
  end if;
  v_in_vain := v_job.queued_at <= p_now - (select s.pack_patience from qwf.settings s);
  select s.worker into v_better
  from qwf.sleepers s
  join qwf.workers w on w.id = s.worker
  where s.queue = p_queue and s.since > p_now - interval '15 s' and w.stopped_at is null
    and s.unanswered < 2
    and (w.rank, w.slots, p_worker.host) > (p_worker.rank, p_worker.slots, w.host)
    and not exists (
      select from qwf.switched_off o where o.host = w.host and o.queue = p_queue)
    and _qwf.fits(v_job, w, p_now)
  order by w.rank desc, w.slots desc, w.host, s.worker
  limit 1;
  if v_better is null then
    return false;
  elsif v_in_vain then
    update qwf.sleepers s set unanswered = s.unanswered + 1
    where s.ctid = (
      select f.ctid from qwf.sleepers f where f.queue = p_queue and f.worker = v_better
      for update skip locked);
    return false;
  end if;
  perform pg_notify(qwf.wake_channel(v_better), p_queue);
  return true;
end $$;

commit;
