-- Revert qwf:functions/report_log

begin;

drop function qwf.report_log(bigint, uuid, bigint, text);

commit;
