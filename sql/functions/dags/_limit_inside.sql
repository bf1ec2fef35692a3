-- Deploy qwf:functions/dags/_limit_inside
-- Purpose: Returns a node of a graph, or of a run that its nodes start, that needs one of these
--   limits; null: none does. A run that holds a place of such a limit would wait for itself.
-- Guarantees: Visits each graph below once.
-- Called by: _check_change, _check_limits, _compile_run, _work_problems.

begin;

create function _qwf.limit_inside(p_graph bigint, p_limits text[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive below (graph_id) as (
    select p_graph
    union
    select n.child_graph_id
    from below b join qwf.graph_nodes n on n.graph_id = b.graph_id
    where n.child_graph_id is not null
  )
  select format('node %s of workflow %s', n.node_id, w.name)
  from below b
  join qwf.graph_nodes n on n.graph_id = b.graph_id and n.limit_by = any (p_limits)
  join qwf.graphs g on g.id = n.graph_id
  join qwf.workflows w on w.id = g.workflow_id
  order by n.graph_id <> p_graph, n.graph_id desc, n.idx
  limit 1
$$;

commit;
