-- Revert qwf:functions/_lock_runs

begin;

drop function qwf._lock_runs(bigint[], boolean);

commit;
