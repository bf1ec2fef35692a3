-- Verify qwf:functions/resume_queue

begin;

select 'qwf.resume_queue(text)'::regprocedure;

rollback;
