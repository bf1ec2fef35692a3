-- Revert qwf:schema/metrics

begin;

drop table qwf.host_metrics;

commit;
