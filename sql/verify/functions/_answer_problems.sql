-- Verify qwf:functions/_answer_problems

begin;

select 'qwf._answer_problems(jsonb, jsonb)'::regprocedure;

rollback;
