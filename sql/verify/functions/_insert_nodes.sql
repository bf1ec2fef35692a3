-- Verify qwf:functions/_insert_nodes

begin;

select 'qwf._insert_nodes(bigint, timestamptz)'::regprocedure;

rollback;
