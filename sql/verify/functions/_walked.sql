-- Verify qwf:functions/_walked

begin;

select 'qwf._walked()'::regprocedure;

rollback;
