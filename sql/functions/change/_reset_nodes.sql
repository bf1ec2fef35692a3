-- Deploy qwf:functions/change/_reset_nodes
-- Purpose: Resets nodes of a run to their initial state.
-- Guarantees: The history of their attempts stays; the elements of a map that runs again as a whole
--   are deleted, as its list may differ.
-- Locks: the caller has locked the run, which is over.
-- Called by: _retry_nodes.

begin;

create function _qwf.reset_nodes(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
begin
  perform _qwf.delete_jobs(array(
    select j.id from qwf.jobs j where j.parent_id = any (p_jobs)));
  delete from qwf.cancel_requests c where c.job_id = any (p_jobs);
  delete from qwf.run_files f where f.job_id = any (p_jobs);
  update qwf.jobs j set
    status = 'blocked', retries = j.retries + 1, failures = 0, losses = 0,
    output = null, resolved_inputs = null, input_spec = n.input_spec, elements = null,
    next_element = null, failed_elements = 0, run_at = null, finished_at = null,
    expires_at = null, avoid_host = null, avoid_until = null, last_error = null,
    last_exit_code = null, progress = null, progress_message = null
  from qwf.graph_nodes n
  where j.id = any (p_jobs) and n.graph_id = j.graph_id and n.idx = j.node_idx;
  update qwf.jobs j set remaining_deps = (
    select count(*)
    from qwf.graph_edges e join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
    where e.graph_id = j.graph_id and e.to_idx = j.node_idx and d.finished_at is null)
  where j.id = any (p_jobs);
end $$;

commit;
