-- Verify qwf:functions/_keyword_problems

begin;

select 'qwf._keyword_problems(jsonb)'::regprocedure;

rollback;
