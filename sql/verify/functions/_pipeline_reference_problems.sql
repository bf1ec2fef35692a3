-- Verify qwf:functions/_pipeline_reference_problems

begin;

select 'qwf._pipeline_reference_problems(jsonb)'::regprocedure;

rollback;
