-- Revert qwf:functions/drop_schedule

begin;

drop function qwf.drop_schedule(text);

commit;
