-- Revert qwf:functions/_drain_run

begin;

drop function qwf._drain_run(bigint);

commit;
