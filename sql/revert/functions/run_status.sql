-- Revert qwf:functions/run_status

begin;

drop function qwf.run_status(bigint);

commit;
