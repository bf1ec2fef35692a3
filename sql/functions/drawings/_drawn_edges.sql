-- Deploy qwf:functions/drawings/_drawn_edges
-- Purpose: Returns the edges of a graph that a drawing shows.
-- Guarantees: Of those to a compensation node, only the ones from what it takes back: it waits for
--   all that follows, and nobody could read these lines.
-- Called by: run_graph, stored_graph.

begin;

create function _qwf.drawn_edges(p_graph bigint) returns table (from_idx int, to_idx int)
language sql stable
as $$
  select e.from_idx, e.to_idx
  from qwf.graph_edges e
  join qwf.graph_nodes t on t.graph_id = e.graph_id and t.idx = e.to_idx
  join qwf.graph_nodes f on f.graph_id = e.graph_id and f.idx = e.from_idx
  where e.graph_id = p_graph
    and (t.compensates is null or f.node_id = any (t.compensates))
$$;

commit;
