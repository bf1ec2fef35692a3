-- Revert qwf:functions/retry_run

begin;

drop function qwf.retry_run(bigint, text);

commit;
