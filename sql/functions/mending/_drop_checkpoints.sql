-- Deploy qwf:functions/mending/_drop_checkpoints
-- Purpose: Deletes the checkpoints of nodes that begin anew: the node or element that is named, and
--   nodes whose inputs or definition may differ.
-- Guarantees: A node that failed or was cancelled and is written as it was goes on from its
--   checkpoint. Elements of a map that runs again as a whole are deleted with theirs.
-- Locks: the caller has locked the run, which is over.
-- Called by: _mend_run.

begin;

create function _qwf.drop_checkpoints(p_run qwf.runs, p_anew bigint[], p_from_node text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from qwf.checkpoints c
  using qwf.jobs j
  where j.run_id = p_run.id and c.job_id = j.id
    and (j.node_id = p_from_node or j.id = any (p_anew));
end $$;

commit;
