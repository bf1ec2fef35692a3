-- Verify qwf:functions/_delete_jobs

begin;

select 'qwf._delete_jobs(bigint[])'::regprocedure;

rollback;
