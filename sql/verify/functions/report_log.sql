-- Verify qwf:functions/report_log

begin;

select 'qwf.report_log(bigint, uuid, bigint, text)'::regprocedure;

rollback;
