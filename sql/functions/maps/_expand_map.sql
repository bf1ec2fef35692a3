-- Deploy qwf:functions/maps/_expand_map
-- Purpose: Turns an opened map into its elements, or ends it if there is nothing to run.
-- Guarantees: The inputs that do not depend on the element are resolved once, so the cost grows
--   with the elements, not with elements times outputs. Returns what the elements add to the
--   counters of the run; _advance_runs writes it.
-- Locks: the caller has locked the run.
-- Notifies: sleepers of the queue.
-- Called by: _open_guarded.

begin;

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

commit;
