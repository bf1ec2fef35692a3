-- Revert qwf:functions/_schedule_problems

begin;

drop function qwf._schedule_problems(qwf.schedules);

commit;
