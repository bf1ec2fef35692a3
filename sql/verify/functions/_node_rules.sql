-- Verify qwf:functions/_node_rules

begin;

select 'qwf._node_rules(jsonb)'::regprocedure;

rollback;
