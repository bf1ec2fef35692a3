-- Deploy qwf:functions/mending/_resume_maps
-- Purpose: Resumes maps with the elements that did not complete.
-- Guarantees: Completed elements are kept; max_parallel holds. A map with nothing left to run gets
--   its verdict again when it is opened.
-- Locks: the caller has locked the run, which is over.
-- Notifies: sleepers of the queues that got work.
-- Called by: _mend_run.

begin;

create function _qwf.resume_maps(p_maps bigint[], p_from_node text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_map record;
  v_named int;
  v_later bigint[];
begin
  for v_map in
    select m.id, n.max_parallel, n.repeat is not null as repeats
    from qwf.jobs m join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
    where m.id = any (p_maps)
    order by m.id
  loop
    v_named := (
      select j.element from qwf.jobs j where j.parent_id = v_map.id and j.node_id = p_from_node);
    if v_map.repeats and v_named is not null then  -- later turns began with what that one gave
      v_later := array(
        select j.id from qwf.jobs j where j.parent_id = v_map.id and j.element > v_named);
      perform _qwf.delete_runs_below(v_later), _qwf.delete_jobs(v_later);
      update qwf.jobs m set elements = v_named + 1 where m.id = v_map.id;
    end if;
    delete from qwf.cancel_requests c using qwf.jobs j
    where j.parent_id = v_map.id and c.job_id = j.id;
    delete from qwf.run_files f using qwf.jobs j
    where j.parent_id = v_map.id and j.node_id = p_from_node and f.job_id = j.id;
    delete from qwf.job_progress p using qwf.jobs j
    where j.parent_id = v_map.id and p.job_id = j.id
      and (j.status in ('failed', 'cancelled') or j.node_id = p_from_node);
    update qwf.jobs j set
      status = 'blocked', retries = j.retries + 1, failures = 0, losses = 0, output = null,
      input_spec = null, queued_at = null, run_at = null, finished_at = null,
      avoid_host = null, avoid_until = null,
      last_error = null, last_exit_code = null,
      begun = case when j.begun is not null then false end
    where j.parent_id = v_map.id
      and (j.status in ('failed', 'cancelled') or j.node_id = p_from_node);
    update qwf.jobs m set
      status = 'blocked', retries = m.retries + 1, finished_at = null, last_error = null,
      output = null, failed_elements = 0, remaining_deps = e.open, next_element = e.first
    from (
      select count(*) as open, coalesce(min(j.element), 0) as first from qwf.jobs j
      where j.parent_id = v_map.id and j.status = 'blocked') e
    where m.id = v_map.id;
    perform _qwf.note_progress(m.id, 1 - m.remaining_deps::real / m.elements)
    from qwf.jobs m where m.id = v_map.id;
    perform _qwf.open_elements(v_map.id, coalesce(v_map.max_parallel, 2147483647));
  end loop;
end $$;

commit;
