-- Verify qwf:functions/_pipeline_problems

begin;

select 'qwf._pipeline_problems(jsonb)'::regprocedure;

rollback;
