-- Verify qwf:functions/_count_nodes

begin;

select 'qwf._count_nodes(qwf.node_count[])'::regprocedure;

rollback;
