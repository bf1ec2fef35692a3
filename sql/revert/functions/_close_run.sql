-- Revert qwf:functions/_close_run

begin;

drop function qwf._close_run(bigint, qwf.run_status, text, boolean);

commit;
