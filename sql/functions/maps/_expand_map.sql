-- Deploy qwf:functions/maps/_expand_map
-- Purpose: Turns an opened map into its elements, or ends it where there is nothing to run.
-- Guarantees: What the inputs say apart from the element is worked out once, so that the cost grows
--   with the elements, not with elements times outputs. The counters of the run grow by the
--   elements here.
-- Locks: expects the run locked by the caller.
-- Notifies: sleepers of the queue.
-- Called by: _open_guarded.

begin;

create function _qwf.expand_map(p_job bigint, p_list jsonb, p_scope jsonb)
returns qwf.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_inputs jsonb;
  v_problem text;
  v_status qwf.job_status;
  v_count _qwf.node_count;
begin
  select _qwf.fold(n.inputs, p_scope) into v_inputs
  from qwf.jobs j join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
  where j.id = p_job;
  v_problem := _qwf.list_problem(p_list, v_inputs);
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
    returning j.status into v_status;
    return v_status;
  end if;
  v_count := _qwf.insert_elements(p_job, p_list, v_inputs);
  update qwf.jobs j set
    elements = jsonb_array_length(p_list), remaining_deps = -v_count.closed,
    failed_elements = jsonb_array_length(p_list) + v_count.closed, progress = 0
  where j.id = p_job;
  update qwf.runs r set
    open_nodes = r.open_nodes - v_count.closed, active_nodes = r.active_nodes + v_count.active,
    waiting_nodes = r.waiting_nodes + v_count.waiting
  where r.id = v_count.run_id;
  return _qwf.map_verdict(p_job);
end $$;

commit;
