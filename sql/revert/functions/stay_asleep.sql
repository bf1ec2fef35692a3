-- Revert qwf:functions/stay_asleep

begin;

drop function qwf.stay_asleep(text, text, jsonb, interval);

commit;
