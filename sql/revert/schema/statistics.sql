-- Revert qwf:schema/statistics

begin;

drop table qwf.hourly_counts;
drop table qwf.attempt_counts;

commit;
