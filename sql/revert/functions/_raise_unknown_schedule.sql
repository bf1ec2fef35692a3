-- Revert qwf:functions/_raise_unknown_schedule

begin;

drop function qwf._raise_unknown_schedule(text);

commit;
