-- Revert qwf:functions/_store_schedule

begin;

drop function qwf._store_schedule(qwf.schedules, timestamptz);

commit;
