-- Revert qwf:schema/graphs

begin;

drop table qwf.graph_edges;
drop table qwf.graph_nodes;
drop table qwf.graphs;

commit;
