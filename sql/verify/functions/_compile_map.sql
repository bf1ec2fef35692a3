-- Verify qwf:functions/_compile_map

begin;

select 'qwf._compile_map(jsonb, jsonb)'::regprocedure;

rollback;
