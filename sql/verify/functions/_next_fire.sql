-- Verify qwf:functions/_next_fire

begin;

select 'qwf._next_fire(qwf.schedules, timestamptz)'::regprocedure;

rollback;
