-- Verify qwf:functions/_schedule_problems

begin;

select 'qwf._schedule_problems(qwf.schedules)'::regprocedure;

rollback;
