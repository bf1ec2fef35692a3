-- Verify qwf:functions/_raise_no_such_job

begin;

select 'qwf._raise_no_such_job(bigint)'::regprocedure;

rollback;
