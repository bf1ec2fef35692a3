-- Deploy qwf:functions/_pick_next
-- requires: schema/types
-- requires: schema/jobs
-- requires: schema/workers
-- requires: functions/_fits
-- Purpose: Picks jobs in claim order: run_next, priority, first in first out.
-- Guarantees: One walk along jobs_claim, with the settings of claim, whatever the statistics say.
--   Jobs this claim picked before are passed over: skip locked does not skip one's own locks.
-- Locks: queued jobs, those that are free.
-- Called by: _pick, _pick_newest, _wanted_places.

begin;

create function qwf._pick_next(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_picked bigint[])
returns qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (j.ctid, j.id, j.run_id, null, null)::qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and j.id <> all (p_picked) and qwf._fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count
    for no key update skip locked);
end $$;
comment on function qwf._pick_next(text, qwf.workers, timestamptz, int, bigint[]) is
  'Locks the next queued jobs without a limit that fit the worker.';
revoke all on function qwf._pick_next(text, qwf.workers, timestamptz, int, bigint[]) from public;

commit;
