-- Revert qwf:functions/create_schedule

begin;

drop function qwf.create_schedule(text, text, text, text, int, int[], interval, timestamptz, text, jsonb, text, text, text, boolean, int, text);

commit;
