-- Revert qwf:functions/_question_problems

begin;

drop function qwf._question_problems(jsonb, jsonb, text);

commit;
