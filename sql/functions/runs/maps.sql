-- A map expanded into elements, a bounded number of them open at a time. Callers hold the lock
-- of the run.

-- Turns an opened map into its elements, or ends it if there is nothing to run. The inputs that
-- do not depend on the element are resolved once, so the cost grows with the elements, not with
-- elements times outputs. Returns what the elements add to the counters of the run;
-- _advance_runs writes it.
-- Locks: the caller has locked the run.
-- Notifies: sleepers of the queue.
create function _qwf.expand_map(p_job bigint, p_list jsonb, p_scope jsonb)
returns _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_inputs jsonb;
  v_size bigint;
  v_length int := case jsonb_typeof(p_list) when 'array' then jsonb_array_length(p_list) end;
  v_repeat jsonb;
  v_problem text;
  v_opened _qwf.opened;
  v_count _qwf.node_count;
begin
  select _qwf.fold(n.inputs, p_scope), n.repeat into v_inputs, v_repeat
  from qwf.jobs j join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
  where j.id = p_job;
  v_size := octet_length(v_inputs::text);
  select case  -- bounds what is written for one map
    when jsonb_typeof(p_list) <> 'array'
      then format('QW004: map is %s, not a list', jsonb_typeof(p_list))
    when v_length > s.max_elements
      then format('QW004: map is a list of %s, at most %s fit (max_elements of qwf.settings)',
        v_length, s.max_elements)
    when (v_repeat -> 'max')::int > s.max_elements
      then format('QW004: repeat has %s turns, at most %s fit (max_elements of qwf.settings)',
        v_repeat -> 'max', s.max_elements)
    when v_length * v_size > 64 * s.max_value_bytes::bigint
      then format('QW005: %s elements share inputs of %s bytes each, which is too much together: '
        'pass a file or an id, and what differs through item', v_length, v_size)
    end into v_problem
  from qwf.settings s;
  if v_problem is not null then
    update qwf.jobs j set
      status = k.status, last_error = v_problem,
      finished_at = case when k.status = 'failed' then qwf.now() end,
      queued_at = case when k.status = 'awaiting_input' then qwf.now() end,
      input_spec = case
        when k.status = 'awaiting_input' then _qwf.failure_question(v_problem, false) end
    from (
      select f.id, case f.on_failure
        when 'ask' then 'awaiting_input' else 'failed' end::qwf.job_status as status
      from qwf.jobs f where f.id = p_job) k
    where j.id = k.id
    returning j.id, j.run_id, j.status into v_opened.id, v_opened.run_id, v_opened.status;
    perform _qwf.add_waits(array[p_job]), _qwf.announce_trouble(array[p_job]);
    return v_opened;
  end if;
  v_count := _qwf.insert_elements(p_job, p_list, v_inputs, 0, null);
  update qwf.jobs j set
    elements = v_length, remaining_deps = -v_count.closed,
    failed_elements = v_length + v_count.closed,
    -- those that failed at once may lie between the queued ones, so this may be too low
    next_element = case when v_count.closed + v_count.active + v_count.waiting < 0
      then v_count.active else v_length end
  where j.id = p_job;
  perform _qwf.note_progress(p_job, 0);
  return (p_job, v_count.run_id, _qwf.map_verdict(p_job), v_count)::_qwf.opened;
end $$;

-- Inserts the jobs of a map, one for each element of its list, or the next turn of a repeat: the
-- list is then the output of the last one. Inputs are stored resolved. An element whose
-- references cannot be resolved fails at once, or asks; it takes no slot of max_parallel.
-- Elements that max_parallel holds back are blocked, and opened in order as others end. A turn
-- that waits is scheduled: p_wait says for how long.
-- Locks: the caller has locked the run.
-- Notifies: sleepers of the queue; qwf_events, for elements that failed or ask.
create function _qwf.insert_elements(
  p_map bigint, p_list jsonb, p_inputs jsonb, p_first int, p_wait interval)
returns _qwf.node_count
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count _qwf.node_count;
  v_troubled bigint[];
begin
  with element as materialized (
    select e.n::int - 1 + p_first as element, r.value as inputs,
      _qwf.resolution_error(r.error) as error,
      count(*) filter (where r.error is null) over (order by e.n) as rank
    from jsonb_array_elements(p_list) with ordinality e (item, n), _qwf.resolve(
      p_inputs, jsonb_build_object('$item', e.item, '$index', e.n - 1 + p_first)) r
  ), inserted as (
    insert into qwf.jobs as j (
      run_id, graph_id, parent_id, element, node_id, queue, task, status, project, priority, run_at,
      position, queued_at, finished_at, input_spec, last_error, inputs, options,
      required_model, light, vram_mb, requires, limit_by,
      limit_place, on_failure, run_if, login, acting_for, labels, created_at, begun)
    select
      m.run_id, m.graph_id, m.id, e.element, format('%s[%s]', m.node_id, e.element), m.queue,
      m.task, k.status, m.project, m.priority,
      case when k.status = 'scheduled' then v_now + p_wait end,
      case when k.status = 'queued' then _qwf.next_position() end,
      case when k.status = 'queued' then v_now end,
      case when k.status = 'failed' then v_now end,
      case when k.status = 'awaiting_input' then _qwf.failure_question(e.error, false) end,
      e.error, coalesce(e.inputs, '{}'), m.options, m.required_model, m.light, m.vram_mb,
      m.requires, m.limit_by, m.limit_place,
      case m.on_failure when 'ask' then 'ask' else 'fail' end, m.run_if, null, null,
      m.labels, v_now, m.begun
    from element e
    cross join (
      select j.*, n.max_parallel
      from qwf.jobs j join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
      where j.id = p_map) m
    cross join lateral (select case
      when e.error is not null and m.on_failure = 'ask' then 'awaiting_input'
      when e.error is not null then 'failed'
      when e.rank > m.max_parallel then 'blocked'
      when p_wait is not null then 'scheduled'
      else 'queued' end::qwf.job_status) k (status)
    order by e.element
    returning j.run_id, j.status
  )
  select j.run_id, -count(i) filter (where i.status <> 'failed'),
    count(i) filter (where i.status in ('queued', 'scheduled')),
    count(i) filter (where i.status = 'awaiting_input'), 0, false into v_count
  from qwf.jobs j left join inserted i on true
  where j.id = p_map
  group by j.run_id;
  perform _qwf.wake(j.queue, v_count.active) from qwf.jobs j
  where j.id = p_map and v_count.active > 0 and p_wait is null;
  if jsonb_array_length(p_list) + v_count.closed > 0 or v_count.waiting > 0 then
    v_troubled := array(
      select j.id from qwf.jobs j where j.parent_id = p_map and j.element >= p_first
        and j.status in ('failed', 'awaiting_input'));
    perform _qwf.add_waits(v_troubled), _qwf.announce_trouble(v_troubled);
  end if;
  return v_count;
end $$;

-- Queues the next elements of a map that max_parallel holds back. In the order of the list.
-- Looks for them from next_element of the map on, and moves that when twenty elements lie
-- between: so it passes few elements that were opened before, and seldom writes the map.
-- Locks: blocked elements of a run the caller has locked.
-- Notifies: sleepers of the queue.
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
