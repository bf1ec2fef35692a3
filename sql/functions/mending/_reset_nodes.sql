-- Deploy qwf:functions/mending/_reset_nodes
-- Purpose: Resets nodes of a run to their initial state: blocked, or skipped.
-- Guarantees: The history of their attempts stays; the elements of a map that runs again as a whole
--   are deleted, as its list may differ. The caller counts what the nodes wait for.
-- Locks: the caller has locked the run, which is over.
-- Called by: _forget_compensations, _mend_run.

begin;

create function _qwf.reset_nodes(
  p_jobs bigint[], p_status qwf.job_status default 'blocked')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_elements bigint[] := array(select j.id from qwf.jobs j where j.parent_id = any (p_jobs));
begin
  perform _qwf.delete_runs_below(v_elements), _qwf.delete_jobs(v_elements);
  delete from qwf.cancel_requests c where c.job_id = any (p_jobs);
  delete from qwf.run_files f where f.job_id = any (p_jobs);
  delete from qwf.job_progress p where p.job_id = any (p_jobs);
  update qwf.jobs j set
    status = p_status, retries = j.retries + 1, failures = 0, losses = 0,
    output = null, resolved_inputs = null, input_spec = n.input_spec, elements = null,
    next_element = null, failed_elements = 0, run_at = null,
    started_at = case when p_status <> 'skipped' then j.started_at end,
    claimed_at = case when p_status <> 'skipped' then j.claimed_at end,
    finished_at = case when p_status = 'skipped' then qwf.now() end,
    expires_at = null, avoid_host = null, avoid_until = null, last_error = null,
    last_exit_code = null,
    begun = case when j.begun is not null then false end
  from qwf.graph_nodes n
  where j.id = any (p_jobs) and n.graph_id = j.graph_id and n.idx = j.node_idx;
end $$;

commit;
