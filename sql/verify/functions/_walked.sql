-- Verify qwf:functions/_walked

begin;

select 'qwf._walked(regclass)'::regprocedure;

rollback;
