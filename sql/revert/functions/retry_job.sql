-- Revert qwf:functions/retry_job

begin;

drop function qwf.retry_job(bigint);

commit;
