-- Revert qwf:functions/_reference_problems

begin;

drop function qwf._reference_problems(jsonb, text, jsonb);

commit;
