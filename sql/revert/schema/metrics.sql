-- Revert qwf:schema/metrics

begin;

drop sequence qwf.metrics_sent;
drop table qwf.host_metrics;

commit;
