-- Verify qwf:functions/report_metrics

begin;

select 'qwf.report_metrics(text, jsonb)'::regprocedure;

rollback;
