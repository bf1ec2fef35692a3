-- Verify qwf:functions/_check_job

begin;

select 'qwf._check_job(qwf.new_job, text, int)'::regprocedure;

rollback;
