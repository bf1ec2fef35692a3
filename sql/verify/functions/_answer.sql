-- Verify qwf:functions/_answer

begin;

select 'qwf._answer(qwf.jobs, jsonb, text)'::regprocedure;

rollback;
