-- Revert qwf:functions/answer_job

begin;

drop function qwf.answer_job(bigint, jsonb, text);

commit;
