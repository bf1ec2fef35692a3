-- Verify qwf:functions/_read_jobs

begin;

select 'qwf._read_jobs(jsonb)'::regprocedure;

rollback;
