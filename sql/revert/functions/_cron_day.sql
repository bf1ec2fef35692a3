-- Revert qwf:functions/_cron_day

begin;

drop function qwf._cron_day(qwf.cron, date);

commit;
