-- Revert qwf:functions/enable_schedule

begin;

drop function qwf.enable_schedule(text, boolean);

commit;
