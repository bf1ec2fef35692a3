-- Deploy qwf:functions/maps/_settle_maps
-- Purpose: Subtracts ended elements from their maps, and ends each map, opens its next elements or
--   begins the next turn of a repeat.
-- Guarantees: One update per map, however many of its elements ended. An element that was never
--   queued had no slot of max_parallel to give back. A map that ended early is returned once more,
--   as cancelled, when its last element has ended: only then its dependants go on.
-- Locks: maps and blocked elements of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
-- Called by: _apply_events.

begin;

create function _qwf.settle_maps(p_jobs bigint[]) returns setof _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_map record;
  v_status qwf.job_status;
begin
  for v_map in
    update qwf.jobs m set
      remaining_deps = m.remaining_deps - e.ended,
      failed_elements = m.failed_elements + e.failed
    from (
      select j.parent_id, count(*)::int as ended,
        (count(*) filter (where j.status in ('failed', 'cancelled')))::int as failed,
        (count(*) filter (where j.queued_at is not null))::int as freed
      from unnest(p_jobs) d (id) join qwf.jobs j on j.id = d.id
      where coalesce(j.parent_id, 0) > 0  -- written so that no partial index can answer it
      group by j.parent_id
    ) e
    where m.id = e.parent_id
    returning m.id, m.run_id, m.status, m.remaining_deps, m.elements,
      e.freed
  loop
    perform _qwf.note_progress(v_map.id, 1 - v_map.remaining_deps::real / v_map.elements);
    v_status := case when v_map.status = 'blocked' then _qwf.map_verdict(v_map.id)
      when v_map.remaining_deps = 0 then 'cancelled' end;
    if v_status = 'blocked' and v_map.remaining_deps = 0 then
      return next _qwf.next_turn(v_map.id);
    elsif v_status = 'blocked' then
      return query select * from _qwf.open_elements(v_map.id, v_map.freed);
    elsif v_status is not null then
      return next (v_map.id, v_map.run_id, v_status, null)::_qwf.opened;
    end if;
  end loop;
end $$;

commit;
