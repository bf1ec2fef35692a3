-- Deploy qwf:functions/runs/_open_guarded
-- Purpose: Opens guarded nodes: evaluates skip_if, delays the node, asks an input, expands a map,
--   queues the others.
-- Guarantees: A node that is skipped does not wait; one that waits is scheduled once, and opened
--   when _promote_due finds it due. A reference that cannot be resolved, or that raises, fails only
--   that node, with QW004; with on_failure ask a person decides. A compensation node is skipped if
--   nothing that it takes back has completed; of a list it takes back what is not null. Only a map
--   and a delay write in the subtransaction of their node.
-- Locks: the jobs, of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
-- Raises: errors that pass (see _is_passing_error), 57014.
-- Called by: _apply_events.

begin;

create function _qwf.open_guarded(p_jobs bigint[]) returns setof _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_node record;
  v_scope jsonb;
  v_skip _qwf.resolution;
  v_asked _qwf.resolution;  -- the question, or the list of a map
  v_map _qwf.opened;  -- what a map, or a delay, has made of it
  v_delay _qwf.resolution;
begin
  for v_node in
    select j.id, j.run_id, j.elements, n.skip_if, n.input_spec, n.map, n.ref_nodes, n.ref_files,
      case when j.run_at is null or j.run_at = r.run_at then n.delay end as delay,
      n.reads_run, n.graph_id, n.compensates, n.compensates is not null
        and not _qwf.has_completed(j.run_id, n.graph_id, n.compensates) as idle
    from qwf.jobs j join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
    join qwf.runs r on r.id = j.run_id
    where j.id = any (p_jobs) and j.status = 'blocked' and j.remaining_deps = 0
    order by j.id
  loop
    if v_node.idle then
      return next _qwf.open_node(v_node.id, row(jsonb 'true', null)::_qwf.resolution, null, false);
      continue;
    elsif v_node.elements is not null then  -- a retried map with nothing left to run
      v_map := (v_node.id, v_node.run_id, _qwf.map_verdict(v_node.id), null)::_qwf.opened;
      return next case when v_map.status = 'blocked' then _qwf.next_turn(v_node.id) else v_map end;
      continue;
    end if;
    begin
      v_asked := null; v_map := null;
      select s.scope || case when v_node.compensates is null then '{}'
        else _qwf.done_of_maps(v_node.run_id, v_node.graph_id, v_node.compensates) end
      into v_scope
      from _qwf.scope(v_node.run_id, v_node.ref_nodes, v_node.ref_files, v_node.reads_run) s;
      v_skip := _qwf.resolve(coalesce(v_node.skip_if, 'false'), v_scope);
      if v_skip.error is null and not _qwf.is_true(v_skip.value) and v_node.delay is not null then
        v_delay := _qwf.delay_end(v_node.delay, v_scope);
        v_skip.error := v_delay.error;
        if (v_delay.value #>> '{}')::timestamptz > qwf.now() then  -- _promote_due opens it
          update qwf.jobs j set status = 'scheduled', run_at = (v_delay.value #>> '{}')::timestamptz
          where j.id = v_node.id;
          v_map := (v_node.id, v_node.run_id, 'scheduled', null)::_qwf.opened;
        end if;
      end if;
      if v_skip.error is null and not _qwf.is_true(v_skip.value) and v_map.id is null then
        v_asked := _qwf.resolve(coalesce(v_node.input_spec, v_node.map, 'null'), v_scope);
        if v_node.input_spec is not null and v_asked.error is null then
          v_asked.value := _qwf.without_null_options(v_node.input_spec, v_asked.value);
          v_asked := _qwf.named_signal(v_asked);
        elsif v_node.map is not null and v_asked.error is null then
          v_map := _qwf.expand_map(v_node.id, case  -- a compensation takes back what was done
            when v_node.compensates is not null and jsonb_typeof(v_asked.value) = 'array'
              then jsonb_path_query_array(v_asked.value, '$[*] ? (@ != null)')
            else v_asked.value end, v_scope);
        end if;
      end if;
    exception
      when others then
        if _qwf.is_passing_error(sqlstate) then raise; end if;
        v_skip := (null, sqlstate || ' ' || left(sqlerrm, 500))::_qwf.resolution;
    end;
    return next case when v_map.id is not null then v_map
      else _qwf.open_node(v_node.id, v_skip, v_asked, v_node.input_spec is not null) end;
  end loop;
end $$;

commit;
