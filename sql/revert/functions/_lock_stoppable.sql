-- Revert qwf:functions/_lock_stoppable

begin;

drop function qwf._lock_stoppable(bigint[]);

commit;
