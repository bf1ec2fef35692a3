-- Deploy qwf:functions/maps/_insert_elements
-- Purpose: Inserts the jobs of a map, one for each element of its list, or the next turn of a
--   repeat: the list is then the output of the last one.
-- Guarantees: Inputs are stored resolved. An element whose references cannot be resolved fails at
--   once, or asks; it takes no slot of max_parallel. Elements that max_parallel holds back are
--   blocked, and opened in order as others end. A turn that waits is scheduled: p_wait says for how
--   long.
-- Locks: the caller has locked the run.
-- Notifies: sleepers of the queue; qwf_events, for elements that failed or ask.
-- Called by: _expand_map, _next_turn.

begin;

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

commit;
