-- Deploy qwf:functions/_reset_nodes
-- requires: schema/runs
-- requires: schema/jobs
-- requires: schema/graphs
-- requires: schema/history
-- Purpose: Puts nodes of a run back to before they were opened.
-- Guarantees: remaining_deps is counted afresh, as events of a run that is over were not applied.
--   attempt goes on counting claims.
-- Locks: expects the run locked by the caller; its jobs.
-- Called by: retry_run.

begin;

create function qwf._reset_nodes(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  delete from qwf.cancel_requests c where c.job_id = any (p_jobs);
  delete from qwf.run_files f where f.job_id = any (p_jobs);
  update qwf.jobs j set
    status = 'blocked', retries = j.retries + 1, failures = 0, losses = 0,
    output = null, resolved_inputs = null, input_spec = n.input_spec,
    run_at = null, finished_at = null, last_error = null, last_exit_code = null,
    progress = null, progress_message = null
  from qwf.graph_nodes n
  where j.id = any (p_jobs) and n.graph_id = j.graph_id and n.idx = j.node_idx;
  update qwf.jobs j set remaining_deps = (
    select count(*)
    from qwf.graph_edges e join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
    where e.graph_id = j.graph_id and e.to_idx = j.node_idx
      and d.status not in ('completed', 'skipped'))
  where j.id = any (p_jobs);
end $$;
comment on function qwf._reset_nodes(bigint[]) is
  'Makes jobs of a run blocked again, with their dependencies counted afresh.';
revoke all on function qwf._reset_nodes(bigint[]) from public;

commit;
