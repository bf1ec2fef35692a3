-- Verify qwf:functions/_waiting_job

begin;

select 'qwf._waiting_job(bigint)'::regprocedure;

rollback;
