-- Verify qwf:functions/_default_problems

begin;

select 'qwf._default_problems(jsonb)'::regprocedure;

rollback;
