-- Revert qwf:functions/_scalar_problems

begin;

drop function qwf._scalar_problems(jsonb, jsonb);

commit;
