-- Verify qwf:functions/_expire_jobs

begin;

select 'qwf._expire_jobs()'::regprocedure;

rollback;
