-- Deploy qwf:functions/maps/_open_elements
-- Purpose: Queues the next elements of a map that max_parallel holds back.
-- Guarantees: In the order of the list. Looks for them from next_element of the map on, and moves
--   that when twenty elements lie between: so it passes few elements that were opened before, and
--   seldom writes the map.
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
  v_next int;
  v_elements int;
  v_opened bigint[];
  v_last int;
begin
  select m.queue, m.next_element, m.elements into v_queue, v_next, v_elements
  from qwf.jobs m where m.id = p_map;
  select array_agg(n.id), max(n.element) into v_opened, v_last
  from (
    select e.id, e.element from qwf.jobs e
    where e.parent_id = p_map and e.element >= v_next and e.status = 'blocked'
    order by e.element
    limit p_count
  ) n;
  if coalesce(cardinality(v_opened), 0) < p_count then
    v_last := v_elements;  -- none is left
  end if;
  if v_last - v_next >= 20 or v_last = v_elements then
    update qwf.jobs m set next_element = v_last where m.id = p_map and m.next_element < v_last;
  end if;
  return query
  update qwf.jobs j set
    status = 'queued', position = _qwf.next_position(), queued_at = qwf.now()
  from unnest(v_opened) with ordinality o (id, n)
  where j.id = o.id
  returning j.id, j.run_id, j.status, null::_qwf.node_count;
  if found then
    perform _qwf.wake(v_queue, p_count);
  end if;
end $$;

commit;
