-- Verify qwf:functions/_compile_step

begin;

select 'qwf._compile_step(jsonb, text, jsonb, jsonb)'::regprocedure;

rollback;
