-- The verdict of a map or a repeat, or its next turn. Callers hold the lock of the run.

-- Subtracts ended elements from their maps, and ends each map, opens its next elements or begins
-- the next turn of a repeat. One update per map, however many of its elements ended. An element
-- that was never queued had no slot of max_parallel to give back. A map that ended early is
-- returned once more, as cancelled, when its last element has ended: only then its dependants go
-- on.
-- Locks: maps and blocked elements of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
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

-- Writes how much of a map has ended.
-- Locks: the progress of the map, of a run the caller has locked.
create function _qwf.note_progress(p_map bigint, p_fraction double precision) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.job_progress (job_id, attempt, fraction, at)
  values (p_map, 0, p_fraction, qwf.now())
  on conflict (job_id) do update set fraction = excluded.fraction, at = excluded.at;
end $$;

-- Ends a map if nothing of it is left to wait for, if it can no longer succeed, or if enough of
-- its elements have completed. It fails as soon as min_success cannot be reached, with the error
-- of the first failed element; it completes when every element has ended, with stop_when_reached
-- as soon as min_success have, with their outputs in the order of the list, null for one that
-- failed, was skipped or is stopped. A repeat is judged by its last turn, and is blocked if it
-- goes on.
-- Locks: the map, of a run the caller has locked.
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

-- Says whether a repeat is over: its value is the output of the last turn; an error says why it
-- failed; without both there is another turn. Reads the last turn, by an index, however many
-- there were. Never raises for what the definition or an output holds.
-- Raises: errors that pass (see _is_passing_error).
create function _qwf.turn_verdict(p_map bigint) returns _qwf.resolution
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_turn record;
  v_until _qwf.resolution;
begin
  select t.element, t.status, coalesce(t.output, 'null') as output, t.last_error, n.repeat, s.scope
    into v_turn
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  cross join lateral (  -- not a join: on a small table that would read all turns of the map
    select t.element, t.status, t.output, t.last_error from qwf.jobs t
    where t.parent_id = m.id and t.element = m.elements - 1 limit 1) t
  cross join lateral _qwf.scope(m.run_id, n.ref_nodes, n.ref_files, n.reads_run) s
  where m.id = p_map;
  if v_turn.status in ('failed', 'cancelled') then
    return (null, format('turn %s of %s %s%s', v_turn.element + 1, v_turn.repeat -> 'max',
      case v_turn.status when 'failed' then 'failed' else 'was cancelled' end,
      ': ' || v_turn.last_error))::_qwf.resolution;
  end if;
  begin
    v_until := _qwf.resolve(v_turn.repeat -> 'until',
      v_turn.scope || jsonb_build_object('$item', v_turn.output, '$index', v_turn.element));
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then
        raise;
      end if;
      v_until := (null, sqlstate || ' ' || left(sqlerrm, 500))::_qwf.resolution;
  end;
  if v_until.error is not null then
    v_until.error := _qwf.resolution_error('repeat.until: ' || v_until.error);
  elsif _qwf.is_true(v_until.value) then
    v_until.value := v_turn.output;
  else
    v_until.value := null;
    v_until.error := case when v_turn.element + 1 >= (v_turn.repeat -> 'max')::int
      then format('not done after %s %s', v_turn.element + 1,
        case v_turn.element when 0 then 'turn' else 'turns' end) end;
  end if;
  return v_until;
end $$;

-- Begins the next turn of a repeat, with the output of the last one as its item. Costs the same
-- for each turn, however many there were. With every the turn is scheduled, else queued. A turn
-- that cannot start fails the repeat, or asks. Returns the map, with what the turn adds to the
-- counters of the run.
-- Locks: the map, of a run the caller has locked.
-- Notifies: sleepers of the queue, if the turn is queued.
-- Raises: errors that pass (see _is_passing_error).
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
