-- Verify qwf:functions/retry_job

begin;

select 'qwf.retry_job(bigint)'::regprocedure;

rollback;
