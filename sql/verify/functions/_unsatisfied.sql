-- Verify qwf:functions/_unsatisfied

begin;

select 'qwf._unsatisfied()'::regprocedure;

rollback;
