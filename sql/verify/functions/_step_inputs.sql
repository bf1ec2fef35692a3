-- Verify qwf:functions/_step_inputs

begin;

select 'qwf._step_inputs(jsonb, text, jsonb, jsonb)'::regprocedure;

rollback;
