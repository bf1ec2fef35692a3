-- Revert qwf:functions/heartbeat

begin;

drop function qwf.heartbeat(text, uuid[], interval, jsonb);

commit;
