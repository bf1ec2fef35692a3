-- Verify qwf:functions/_expression_problems

begin;

select 'qwf._expression_problems(jsonb, text)'::regprocedure;

rollback;
