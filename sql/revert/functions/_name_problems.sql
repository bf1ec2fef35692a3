-- Revert qwf:functions/_name_problems

begin;

drop function qwf._name_problems(jsonb);

commit;
