-- Verify qwf:functions/_stop_nodes

begin;

select 'qwf._stop_nodes(bigint[])'::regprocedure;

rollback;
