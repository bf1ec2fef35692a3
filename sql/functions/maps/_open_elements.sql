-- Deploy qwf:functions/maps/_open_elements
-- Purpose: Queues the next elements of a map that max_parallel holds back.
-- Guarantees: In the order of the list.
-- Locks: blocked elements of a run the caller has locked.
-- Notifies: sleepers of the queue.
-- Called by: _resume_maps, _settle_maps.

begin;

create function _qwf.open_elements(p_map bigint, p_count int) returns setof _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_queue text;
begin
  return query
  update qwf.jobs j set
    status = 'queued', position = _qwf.next_position(), queued_at = qwf.now()
  from (
    select e.id from qwf.jobs e
    where e.parent_id = p_map and e.status = 'blocked'
    order by e.element
    limit p_count
  ) next
  where j.id = next.id
  returning j.id, j.run_id, j.status, null::_qwf.node_count;
  if found then
    select m.queue into v_queue from qwf.jobs m where m.id = p_map;
    perform _qwf.wake(v_queue, p_count);
  end if;
end $$;

commit;
