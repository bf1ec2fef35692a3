-- Verify qwf:functions/_upstream_nodes

begin;

select 'qwf._upstream_nodes(jsonb, text)'::regprocedure;

rollback;
