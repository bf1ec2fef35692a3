-- Verify qwf:functions/cancel_job

begin;

select 'qwf.cancel_job(bigint, text)'::regprocedure;

rollback;
