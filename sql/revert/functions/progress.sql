-- Revert qwf:functions/progress

begin;

drop function qwf.progress(bigint, uuid, real, text);

commit;
