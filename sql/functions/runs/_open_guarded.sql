-- Deploy qwf:functions/runs/_open_guarded
-- Purpose: Opens guarded nodes: evaluates skip_if, asks an input, expands a map, queues the others.
-- Guarantees: A reference that cannot be resolved fails only that node, with QW004; with on_failure
--   ask a person decides.
-- Locks: the jobs, of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
-- Called by: _apply_events.

begin;

create function _qwf.open_guarded(p_jobs bigint[]) returns setof _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_node record;
  v_scope jsonb;
  v_skip _qwf.resolution;
  v_asked _qwf.resolution;  -- the question, or the list of a map
  v_error text;
  v_status qwf.job_status;
begin
  for v_node in
    select j.id, j.run_id, j.queue, j.elements, j.on_failure, n.skip_if, n.input_spec, n.map,
      n.ref_nodes, n.ref_files
    from qwf.jobs j join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
    where j.id = any (p_jobs) and j.status = 'blocked' and j.remaining_deps = 0
    order by j.id
  loop
    if v_node.elements is not null then  -- a retried map with nothing left to run
      return next (v_node.id, v_node.run_id, _qwf.map_verdict(v_node.id), null)::_qwf.opened;
      continue;
    end if;
    select s.scope into v_scope
    from _qwf.scope(v_node.run_id, v_node.ref_nodes, v_node.ref_files) s;
    v_skip := _qwf.resolve(coalesce(v_node.skip_if, 'false'), v_scope);
    v_asked := null;
    if v_skip.error is null and not _qwf.is_true(v_skip.value) then
      v_asked := _qwf.resolve(coalesce(v_node.input_spec, v_node.map, 'null'), v_scope);
      if v_node.map is not null and v_asked.error is null then
        return next _qwf.expand_map(v_node.id, v_asked.value, v_scope);
        continue;
      end if;
    end if;
    v_error := _qwf.resolution_error(coalesce(v_skip.error, v_asked.error));
    v_asked.value := case when v_error is null then v_asked.value
      else _qwf.failure_question(v_error, false) end;
    v_status := case
      when v_error is not null and v_node.on_failure = 'ask' then 'awaiting_input'
      when v_error is not null then 'failed'
      when _qwf.is_true(v_skip.value) then 'skipped'
      when v_node.input_spec is not null then 'awaiting_input'
      else 'queued'
    end::qwf.job_status;
    update qwf.jobs j set
      status = v_status,
      input_spec = case
        when v_status = 'awaiting_input' then v_asked.value else j.input_spec end,
      expires_at = case when v_status = 'awaiting_input'
        then v_now + _qwf.as_interval(v_asked.value -> 'expires') end,
      last_error = v_error,
      queued_at = case when v_status in ('queued', 'awaiting_input') then v_now end,
      position = case when v_status = 'queued' then _qwf.next_position() end,
      finished_at = case when v_status in ('failed', 'skipped') then v_now end
    where j.id = v_node.id;
    if v_status = 'queued' then
      perform _qwf.wake(v_node.queue, 1);
    end if;
    return next (v_node.id, v_node.run_id, v_status, null)::_qwf.opened;
  end loop;
end $$;

commit;
