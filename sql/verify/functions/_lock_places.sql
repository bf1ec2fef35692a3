-- Verify qwf:functions/_lock_places

begin;

select 'qwf._lock_places(text, qwf.workers, timestamptz, int, boolean)'::regprocedure;

rollback;
