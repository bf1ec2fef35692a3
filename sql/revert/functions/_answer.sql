-- Revert qwf:functions/_answer

begin;

drop function qwf._answer(qwf.jobs, jsonb, text);

commit;
