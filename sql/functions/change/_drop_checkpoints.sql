-- Deploy qwf:functions/change/_drop_checkpoints
-- Purpose: Deletes the checkpoints of nodes that begin anew: those that had completed, that are
--   named, or that follow a node that runs again, as their inputs may differ.
-- Guarantees: A node that failed or was cancelled, and whose inputs stay, goes on from its
--   checkpoint. Elements of a map that runs again as a whole are deleted with theirs.
-- Locks: the caller has locked the run, which is over.
-- Called by: retry_run.

begin;

create function _qwf.drop_checkpoints(p_run qwf.runs, p_jobs bigint[], p_from_node text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from qwf.checkpoints c
  using qwf.jobs j
  where j.run_id = p_run.id and c.job_id = j.id
    and (j.node_id = p_from_node
      or j.id = any (p_jobs)
        and (j.status in ('completed', 'skipped') or exists (
          select from qwf.graph_edges e
          join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
          where e.graph_id = j.graph_id and e.to_idx = j.node_idx and d.id = any (p_jobs))));
end $$;

commit;
