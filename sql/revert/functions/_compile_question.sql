-- Revert qwf:functions/_compile_question

begin;

drop function qwf._compile_question(jsonb, jsonb);

commit;
