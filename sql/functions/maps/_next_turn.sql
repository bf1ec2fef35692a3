-- Deploy qwf:functions/maps/_next_turn
-- Purpose: Begins the next turn of a repeat, with the output of the last one as its item.
-- Guarantees: Costs the same for each turn, however many there were. With every the turn is
--   scheduled, else queued. A turn that cannot start fails the repeat, or asks. Returns the map,
--   with what the turn adds to the counters of the run.
-- Locks: the map, of a run the caller has locked.
-- Notifies: sleepers of the queue, if the turn is queued.
-- Raises: errors that pass (see _is_passing_error).
-- Called by: _open_guarded, _settle_maps.

begin;

create function _qwf.next_turn(p_map bigint) returns _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_next record;
  v_count _qwf.node_count;
begin
  select m.run_id, m.elements as turn, coalesce(t.output, 'null') as output, n.repeat, n.inputs,
      s.scope
    into v_next
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  cross join lateral (  -- not a join: on a small table that would read all turns of the map
    select t.output from qwf.jobs t
    where t.parent_id = m.id and t.element = m.elements - 1 limit 1) t
  cross join lateral _qwf.scope(m.run_id, n.ref_nodes, n.ref_files, n.reads_run) s
  where m.id = p_map;
  begin
    v_count := _qwf.insert_elements(p_map, jsonb_build_array(v_next.output),
      _qwf.fold(v_next.inputs, v_next.scope), v_next.turn,
      _qwf.as_interval(v_next.repeat -> 'every'));
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then
        raise;
      end if;
      update qwf.jobs m set status = 'failed', finished_at = qwf.now(),
        last_error = sqlstate || ' ' || left(sqlerrm, 500)
      where m.id = p_map;
      perform _qwf.announce_trouble(array[p_map]);
      return (p_map, v_next.run_id, 'failed', null)::_qwf.opened;
  end;
  update qwf.jobs m set
    elements = v_next.turn + 1, next_element = v_next.turn + 1, remaining_deps = -v_count.closed,
    failed_elements = m.failed_elements + 1 + v_count.closed
  where m.id = p_map;
  perform _qwf.note_progress(p_map, v_next.turn::real / (v_next.repeat -> 'max')::int);
  return (p_map, v_next.run_id, case when v_count.closed < 0 then 'blocked'
    else _qwf.map_verdict(p_map) end, v_count)::_qwf.opened;
end $$;

commit;
