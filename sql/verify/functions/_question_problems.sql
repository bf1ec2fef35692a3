-- Verify qwf:functions/_question_problems

begin;

select 'qwf._question_problems(jsonb, jsonb, text)'::regprocedure;

rollback;
