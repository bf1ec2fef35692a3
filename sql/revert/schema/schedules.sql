-- Revert qwf:schema/schedules

begin;

drop type qwf.fired;
drop type qwf.cron;
drop type qwf.cron_field;
drop table qwf.schedules;

commit;
