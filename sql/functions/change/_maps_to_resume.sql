-- Deploy qwf:functions/change/_maps_to_resume
-- Purpose: Returns the maps among the nodes to retry that keep their completed elements.
-- Guarantees: Those that failed themselves and whose list cannot have changed, because no node
--   upstream runs again; a named map runs again as a whole.
-- Called by: retry_run.

begin;

create function _qwf.maps_to_resume(p_jobs bigint[], p_from_node text) returns bigint[]
language sql stable
as $$
  select coalesce(array_agg(m.id), '{}')
  from qwf.jobs m
  where m.id = any (p_jobs) and m.elements is not null and m.node_id is distinct from p_from_node
    and not exists (  -- elements that never had inputs: read the list again
      select from qwf.jobs j
      where j.parent_id = m.id and j.attempt = 0
        and (j.status = 'failed' or j.input_spec is not null))
    and not exists (
      select from qwf.graph_edges e
      join qwf.jobs d on d.run_id = m.run_id and d.node_idx = e.from_idx
      where e.graph_id = m.graph_id and e.to_idx = m.node_idx and d.id = any (p_jobs))
$$;

commit;
