-- Revert qwf:functions/fire_schedules

begin;

drop function qwf.fire_schedules(int);

commit;
