-- Revert qwf:functions/_count_nodes

begin;

drop function qwf._count_nodes(qwf.node_count[]);

commit;
