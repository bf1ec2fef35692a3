-- Verify qwf:functions/answer_job

begin;

select 'qwf.answer_job(bigint, jsonb, text)'::regprocedure;

rollback;
