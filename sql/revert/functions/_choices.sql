-- Revert qwf:functions/_choices

begin;

drop function qwf._choices(jsonb);

commit;
