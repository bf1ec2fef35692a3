-- Verify qwf:functions/_lock_stoppable

begin;

select 'qwf._lock_stoppable(bigint[])'::regprocedure;

rollback;
