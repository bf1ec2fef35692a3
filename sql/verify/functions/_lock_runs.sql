-- Verify qwf:functions/_lock_runs

begin;

select 'qwf._lock_runs(bigint[], boolean)'::regprocedure;

rollback;
