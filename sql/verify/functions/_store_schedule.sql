-- Verify qwf:functions/_store_schedule

begin;

select 'qwf._store_schedule(qwf.schedules, timestamptz)'::regprocedure;

rollback;
