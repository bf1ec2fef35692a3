-- Deploy qwf:functions/maps/_map_verdict
-- Purpose: Ends a map if nothing of it is left to wait for, if it can no longer succeed, or if
--   enough of its elements have completed.
-- Guarantees: It fails as soon as min_success cannot be reached, with the error of the first failed
--   element; it completes when every element has ended, with stop_when_reached as soon as
--   min_success have, with their outputs in the order of the list, null for one that failed, was
--   skipped or is stopped. A repeat is judged by its last turn, and is blocked if it goes on.
-- Locks: the map, of a run the caller has locked.
-- Called by: _expand_map, _next_turn, _open_guarded, _settle_maps.

begin;

create function _qwf.map_verdict(p_map bigint) returns qwf.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_map record;
  v_output _qwf.resolution;
  v_max bigint;
  v_size bigint;
begin
  select j.elements, j.failed_elements, j.remaining_deps, case
      when j.elements = 0 then 0
      when n.min_success is null then j.elements
      when right(n.min_success, 1) = '%'
        then ceil(j.elements * rtrim(n.min_success, '%')::numeric / 100)
      else n.min_success::numeric
    end as needed, n.stop_when_reached, n.repeat is not null as repeats into v_map
  from qwf.jobs j join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
  where j.id = p_map;
  if v_map.repeats and v_map.remaining_deps = 0 then
    v_output := _qwf.turn_verdict(p_map);
    if v_output is null then
      return 'blocked';  -- the next turn
    end if;
  elsif v_map.elements - v_map.failed_elements < v_map.needed then
    select _qwf.clip(format('%s of %s elements failed, %s must succeed; %s: %s',
        v_map.failed_elements, v_map.elements, v_map.needed, j.node_id,
        coalesce(j.last_error, j.status::text)), s.max_error_bytes)
      into v_output.error
    from qwf.jobs j cross join qwf.settings s
    where j.parent_id = p_map and j.status in ('failed', 'cancelled')
    order by j.finished_at, j.element
    limit 1;
  elsif v_map.remaining_deps = 0 or v_map.stop_when_reached
    and v_map.elements - v_map.failed_elements - v_map.remaining_deps >= v_map.needed
  then
    select s.max_value_bytes * 16::bigint into v_max from qwf.settings s;
    select coalesce(sum(octet_length(j.output::text)), 0) into v_size
    from qwf.jobs j where j.parent_id = p_map;
    if v_size > v_max then  -- a reader of the list loads all of it
      v_output.error := format('QW005: the outputs of the elements have %s bytes together, at most '
        '%s fit: write files and return their paths', v_size, v_max);
    else
      select coalesce(jsonb_agg(j.output order by j.element), '[]') into v_output.value
      from qwf.jobs j where j.parent_id = p_map;
    end if;
  else
    return 'blocked';
  end if;
  update qwf.jobs j set
    status = case when v_output.value is null then 'failed' else 'completed' end::qwf.job_status,
    output = v_output.value, finished_at = qwf.now(),
    last_error = case when v_output.value is null
      then coalesce(v_output.error, format('%s must succeed, the list has %s', v_map.needed,
        v_map.elements)) end
  where j.id = p_map;
  if v_output.value is null then
    perform _qwf.announce_trouble(array[p_map]);
  end if;
  return case when v_output.value is null then 'failed' else 'completed' end;
end $$;

commit;
