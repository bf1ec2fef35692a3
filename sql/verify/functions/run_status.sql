-- Verify qwf:functions/run_status

begin;

select 'qwf.run_status(bigint)'::regprocedure;

rollback;
