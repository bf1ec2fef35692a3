-- Verify qwf:functions/_reset_nodes

begin;

select 'qwf._reset_nodes(bigint[])'::regprocedure;

rollback;
