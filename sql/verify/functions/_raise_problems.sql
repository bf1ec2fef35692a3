-- Verify qwf:functions/_raise_problems

begin;

select 'qwf._raise_problems(text, text, qwf.problem[])'::regprocedure;

rollback;
