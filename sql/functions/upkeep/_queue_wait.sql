-- Deploy qwf:functions/upkeep/_queue_wait
-- Purpose: Returns how many seconds the first job of a queue in claim order has waited; null if
--   none is queued.
-- Guarantees: Reads the first job without a limit and the first of each limit, along the claim
--   indexes. A job counts even if its limit is full: it waits.
-- Called by: _record_queues.

begin;

create function _qwf.queue_wait(p_queue text, p_now timestamptz)
returns double precision
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return (
    select greatest(date_part('epoch', p_now - h.queued_at), 0)
    from (
      (
        select j.queued_at, j.run_next, j.priority, j.position from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        order by j.run_next desc, j.priority, j.position limit 1
      )
      union all
      select f.queued_at, f.run_next, f.priority, f.position
      from qwf.limits l
      cross join lateral (
        select j.queued_at, j.run_next, j.priority, j.position from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
        order by j.run_next desc, j.priority, j.position limit 1
      ) f
    ) h
    order by h.run_next desc, h.priority, h.position
    limit 1);
end $$;

commit;
