-- Verify qwf:functions/_step_names

begin;

select 'qwf._step_names(jsonb, int, int[], jsonb, jsonb[], bit varying, jsonb)'::regprocedure;

rollback;
