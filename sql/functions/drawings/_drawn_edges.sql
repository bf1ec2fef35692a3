-- Deploy qwf:functions/drawings/_drawn_edges
-- Purpose: Returns the edges of a graph that a drawing shows.
-- Guarantees: Of those to a compensation node, only the ones from what it takes back: it waits for
--   all that follows, and nobody could read these lines.
-- Called by: run_graph, workflow_graph.

begin;

create function _qwf.drawn_edges(p_graph bigint) returns table (from_idx int, to_idx int)
language sql stable
as $$
  with compensation as materialized (
    select n.idx, n.compensates from qwf.graph_nodes n
    where n.graph_id = p_graph and n.compensates is not null
  )
  select e.from_idx, e.to_idx
  from qwf.graph_edges e
  left join compensation c on c.idx = e.to_idx
  where e.graph_id = p_graph
    and (c.idx is null or exists (
      select from qwf.graph_nodes f
      where f.graph_id = e.graph_id and f.idx = e.from_idx and f.node_id = any (c.compensates)))
$$;

commit;
