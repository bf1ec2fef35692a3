-- Verify qwf:functions/_compile_node

begin;

select 'qwf._compile_node(jsonb, jsonb, jsonb, jsonb)'::regprocedure;

rollback;
