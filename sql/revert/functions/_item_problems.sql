-- Revert qwf:functions/_item_problems

begin;

drop function qwf._item_problems(jsonb, text, jsonb);

commit;
