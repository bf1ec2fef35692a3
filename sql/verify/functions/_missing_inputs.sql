-- Verify qwf:functions/_missing_inputs

begin;

select 'qwf._missing_inputs(jsonb, jsonb, text)'::regprocedure;

rollback;
