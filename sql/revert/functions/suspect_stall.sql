-- Revert qwf:functions/suspect_stall

begin;

drop function qwf.suspect_stall(bigint, uuid, jsonb);

commit;
