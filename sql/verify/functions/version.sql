-- Verify qwf:functions/version

begin;

select 'qwf.version()'::regprocedure;

rollback;
