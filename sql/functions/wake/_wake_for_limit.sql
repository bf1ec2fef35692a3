-- Deploy qwf:functions/wake/_wake_for_limit
-- Purpose: Wakes sleepers of the queues where jobs wait for a limit.
-- Notifies: as many sleepers of each such queue as there are slots or starts.
-- Called by: _fail_unresolved, _limit_queue, _release_slots, _wake_for_starts, create_limit,
--   hold_limit.

begin;

create function _qwf.wake_for_limit(p_limit text, p_count int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  perform _qwf.wake(q.name, p_count)
  from qwf.queues q
  where coalesce(  -- limit 1: exists may be planned to read all of them
      (select p_limit = 'queue:' || q.name from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is null limit 1),
      (select p_limit = 'queue:' || q.name from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null limit 1),
      (select p_limit = 'queue:' || q.name from qwf.jobs j
        where _qwf.line_of(j) = q.name and j.limit_place is not null
          and j.status in ('queued', 'running') limit 1))
    or (select true from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by = p_limit
        and j.limit_place is null limit 1);
end $$;

commit;
