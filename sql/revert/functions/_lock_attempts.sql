-- Revert qwf:functions/_lock_attempts

begin;

drop function qwf._lock_attempts(qwf.report[]);

commit;
