-- Revert qwf:functions/cancel_run

begin;

drop function qwf.cancel_run(bigint, text);

commit;
