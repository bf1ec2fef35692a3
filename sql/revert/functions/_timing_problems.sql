-- Revert qwf:functions/_timing_problems

begin;

drop function qwf._timing_problems(qwf.schedules);

commit;
