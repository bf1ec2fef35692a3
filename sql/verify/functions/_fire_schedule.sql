-- Verify qwf:functions/_fire_schedule

begin;

select 'qwf._fire_schedule(qwf.schedules, timestamptz)'::regprocedure;

rollback;
