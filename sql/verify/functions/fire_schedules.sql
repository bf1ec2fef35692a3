-- Verify qwf:functions/fire_schedules

begin;

select 'qwf.fire_schedules(int)'::regprocedure;

rollback;
