-- Revert qwf:functions/cancel_job

begin;

drop function qwf.cancel_job(bigint, text);

commit;
