-- Revert qwf:functions/change_job

begin;

drop function qwf.change_job(bigint, int, text, timestamptz);

commit;
