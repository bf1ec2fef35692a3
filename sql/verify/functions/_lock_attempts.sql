-- Verify qwf:functions/_lock_attempts

begin;

select 'qwf._lock_attempts(qwf.report[])'::regprocedure;

rollback;
