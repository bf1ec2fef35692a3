-- Verify qwf:functions/_store_graph

begin;

select 'qwf._store_graph(bigint, bigint[], jsonb)'::regprocedure;

rollback;
