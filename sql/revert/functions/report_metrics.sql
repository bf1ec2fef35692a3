-- Revert qwf:functions/report_metrics

begin;

drop function qwf.report_metrics(text, jsonb);

commit;
