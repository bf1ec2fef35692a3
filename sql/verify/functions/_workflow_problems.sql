-- Verify qwf:functions/_workflow_problems

begin;

select 'qwf._workflow_problems(jsonb, jsonb)'::regprocedure;

rollback;
