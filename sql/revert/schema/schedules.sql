-- Revert qwf:schema/schedules

begin;

drop type _qwf.fired;
drop type _qwf.cron;
drop type _qwf.cron_field;
drop table qwf.schedules;

commit;
