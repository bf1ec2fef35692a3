-- Verify qwf:functions/_job_with_key

begin;

select 'qwf._job_with_key(text, text, text)'::regprocedure;

rollback;
