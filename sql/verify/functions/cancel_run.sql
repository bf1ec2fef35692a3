-- Verify qwf:functions/cancel_run

begin;

select 'qwf.cancel_run(bigint, text)'::regprocedure;

rollback;
