-- Revert qwf:functions/_question_rules

begin;

drop function qwf._question_rules(jsonb);

commit;
