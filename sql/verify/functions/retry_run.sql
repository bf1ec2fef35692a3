-- Verify qwf:functions/retry_run

begin;

select 'qwf.retry_run(bigint, text)'::regprocedure;

rollback;
