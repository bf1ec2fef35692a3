-- Deploy qwf:functions/runs/_has_completed
-- Purpose: True if one of the named nodes of a run has completed, or an element of one that is a
--   map, however the map ended.
-- Called by: _go_on, _open_guarded, _refuse_compensation.

begin;

create function _qwf.has_completed(p_run bigint, p_graph bigint, p_nodes text[]) returns boolean
language sql stable
as $$
  select exists (
    select from qwf.graph_nodes n
    join qwf.jobs j on j.run_id = p_run and j.node_idx = n.idx
    where n.graph_id = p_graph and n.node_id = any (p_nodes) and (j.status = 'completed'
      or j.elements is not null and n.repeat is null and exists (
        select from qwf.jobs e where e.parent_id = j.id and e.status = 'completed')))
$$;

commit;
