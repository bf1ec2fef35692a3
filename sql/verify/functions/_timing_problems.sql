-- Verify qwf:functions/_timing_problems

begin;

select 'qwf._timing_problems(qwf.schedules)'::regprocedure;

rollback;
