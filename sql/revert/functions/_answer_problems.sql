-- Revert qwf:functions/_answer_problems

begin;

drop function qwf._answer_problems(jsonb, jsonb);

commit;
