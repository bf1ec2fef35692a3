-- Verify qwf:functions/_name_problems

begin;

select 'qwf._name_problems(jsonb)'::regprocedure;

rollback;
