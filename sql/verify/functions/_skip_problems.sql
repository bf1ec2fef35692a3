-- Verify qwf:functions/_skip_problems

begin;

select 'qwf._skip_problems(jsonb, text)'::regprocedure;

rollback;
