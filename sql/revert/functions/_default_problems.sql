-- Revert qwf:functions/_default_problems

begin;

drop function qwf._default_problems(jsonb);

commit;
