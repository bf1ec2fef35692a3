-- Verify qwf:functions/_insert_jobs

begin;

select 'qwf._insert_jobs(qwf.new_job[])'::regprocedure;

rollback;
