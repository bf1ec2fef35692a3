-- Revert qwf:functions/finish

begin;

drop function qwf.finish(bigint, uuid, text, jsonb, text, jsonb);

commit;
