-- Revert qwf:functions/_fire_schedule

begin;

drop function qwf._fire_schedule(qwf.schedules, timestamptz);

commit;
