-- Revert qwf:functions/_expression_problems

begin;

drop function qwf._expression_problems(jsonb, text);

commit;
