-- A ready node becomes a queued job, waits, or is skipped. Callers hold the lock of the run.

-- Opens guarded nodes: evaluates skip_if, delays the node, asks a question, expands a map,
-- queues the others. One that waits is scheduled once, and opened when _promote_due finds it
-- due. A reference that raises fails only that node, with QW004; with on_failure ask a person
-- decides. A compensation node is skipped if nothing that it undoes has completed. Only a map
-- and a delay write in the subtransaction of their node.
-- Locks: the jobs, of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
-- Raises: errors that pass (see _is_passing_error), 57014.
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

-- True if one of the named nodes of a run has completed, or an element of one that is a map,
-- however the map ended.
create function _qwf.has_completed(p_run bigint, p_graph bigint, p_nodes text[]) returns boolean
language sql stable
as $$
  select exists (
    select from qwf.graph_nodes n
    join qwf.jobs j on j.run_id = p_run and j.node_idx = n.idx
    where n.graph_id = p_graph and n.node_id = any (p_nodes) and (j.status = 'completed'
      or j.elements is not null and n.repeat is null and exists (
        select from qwf.jobs e where e.parent_id = j.id and e.status = 'completed')))
$$;

-- Queues a guarded node, skips it, asks its question, completes it with a signal that was sent
-- before, or fails it, by what its references gave. A node whose references cannot be resolved
-- fails; with on_failure ask a person decides.
-- Locks: the job, of a run the caller has locked.
-- Notifies: a sleeper of the queue, if the node is queued.
create function _qwf.open_node(
  p_job bigint, p_skip _qwf.resolution, p_asked _qwf.resolution, p_asks boolean)
returns _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_error text := _qwf.resolution_error(coalesce(p_skip.error, p_asked.error));
  v_question jsonb := case
    when v_error is null then p_asked.value else _qwf.failure_question(v_error, false) end;
  v_opened record;
begin
  update qwf.jobs j set
    status = k.status,
    input_spec = case when k.status = 'awaiting_input' then v_question else j.input_spec end,
    expires_at = case when k.status = 'awaiting_input'
      then v_now + _qwf.as_interval(v_question -> 'expires') end,
    last_error = v_error,
    queued_at = case when k.status in ('queued', 'awaiting_input') then v_now end,
    position = case when k.status = 'queued' then _qwf.next_position() end,
    finished_at = case when k.status in ('failed', 'skipped') then v_now end
  from (
    select f.id, case
        when v_error is not null and f.on_failure = 'ask' then 'awaiting_input'
        when v_error is not null then 'failed'
        when _qwf.is_true(p_skip.value) then 'skipped'
        when p_asks then 'awaiting_input'
        else 'queued'
      end::qwf.job_status as status
    from qwf.jobs f where f.id = p_job) k
  where j.id = k.id
  returning j.id, j.run_id, j.status, j.queue into v_opened;
  if v_opened.status = 'queued' then
    perform _qwf.wake(v_opened.queue, 1);
  elsif v_opened.status <> 'skipped' then
    perform _qwf.add_waits(array[p_job]);
    if _qwf.take_kept_signal(p_job) then
      v_opened.status := 'completed';
    else
      perform _qwf.announce_trouble(array[p_job]);
    end if;
  end if;
  return (v_opened.id, v_opened.run_id, v_opened.status, null)::_qwf.opened;
end $$;

-- Returns, for the nodes that a compensation node takes back, the lists of the maps among them
-- that did not complete: the outputs of the elements that did, null for the others. Other nodes
-- read null from such a map. Bounded as the list of a map that completed.
-- Raises: QW005 if the outputs are too large together: the compensation node fails with it.
create function _qwf.done_of_maps(p_run bigint, p_graph bigint, p_nodes text[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_map record;
  v_lists jsonb := '{}';
begin
  for v_map in
    select j.id, j.node_id, s.max_value_bytes * 16::bigint as most
    from qwf.graph_nodes n
    join qwf.jobs j on j.run_id = p_run and j.node_idx = n.idx
    cross join qwf.settings s
    where n.graph_id = p_graph and n.node_id = any (p_nodes) and n.repeat is null
      and j.elements is not null and j.status in ('failed', 'cancelled')
  loop
    if v_map.most < (
      select sum(octet_length(e.output::text)) from qwf.jobs e where e.parent_id = v_map.id)
    then
      raise exception using errcode = 'QW005',
        message = format('the outputs of the elements of %s are too large together', v_map.node_id),
        hint = 'write files and return their paths';
    end if;
    v_lists := v_lists || (
      select jsonb_build_object(v_map.node_id,
        coalesce(jsonb_agg(case when e.status = 'completed' then e.output end order by e.element)
          filter (where e.id is not null), '[]'))
      from qwf.jobs e where e.parent_id = v_map.id);
  end loop;
  return v_lists;
end $$;

-- Returns when the delays of a node end, one after the other: durations are added, a time is one
-- before which the node does not open. The value is a time. A delay that resolves to null or 0
-- is none. An error is one of _resolve, or says what is neither a duration nor a time. A time
-- without a zone is in UTC. At most 366 days from now.
create function _qwf.delay_end(p_delays jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_now timestamptz := qwf.now();
  v_end timestamptz := v_now;
  v_delay jsonb;
  v_found _qwf.resolution;
begin
  for v_delay in select d.value from jsonb_array_elements(p_delays) d (value) loop
    v_found := _qwf.resolve(v_delay, p_scope);
    if v_found.error is not null then
      return v_found;
    end if;
    v_delay := v_found.value;
    continue when v_delay in ('null', '0');
    v_end := case
      when _qwf.as_interval(v_delay) is not null then v_end + _qwf.as_interval(v_delay)
      when v_delay #>> '{}' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}'
        then greatest(v_end, (v_delay #>> '{}')::timestamptz) end;
    if v_end is null or v_end > v_now + interval '366 days' then
      return (null, format('delay is %s, neither a duration nor a time within a year',
        left(v_delay::text, 200)))::_qwf.resolution;
    end if;
  end loop;
  return (to_jsonb(v_end), null)::_qwf.resolution;
exception
  when data_exception then
    return (null, format('delay is %s, not a time', left(v_delay::text, 200)))::_qwf.resolution;
end $$;

-- Returns a question without the nulls among its options: an element of a map that failed or was
-- skipped is nothing to choose. Options that the definition itself lists stay as they are; so
-- does a source that is only to look at.
create function _qwf.without_null_options(p_written jsonb, p_question jsonb) returns jsonb
language sql immutable
as $$
  select p_question || coalesce(jsonb_object_agg(
    m.key, jsonb_path_query_array(m.value, 'strict $[*] ? (@.type() != "null")')), '{}')
  from jsonb_each(p_question) m
  where jsonb_typeof(m.value) = 'array'
    and jsonb_typeof(p_written -> m.key) is distinct from 'array'
    and (m.key = 'options'
      or m.key = 'source' and p_question ->> 'widget' in ('choose_one', 'turnout')
        and jsonb_typeof(p_question -> 'options') is distinct from 'array')
$$;
