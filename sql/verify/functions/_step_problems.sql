-- Verify qwf:functions/_step_problems

begin;

select 'qwf._step_problems(jsonb, text)'::regprocedure;

rollback;
