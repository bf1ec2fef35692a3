-- Revert qwf:functions/_next_fire

begin;

drop function qwf._next_fire(qwf.schedules, timestamptz);

commit;
