-- Revert qwf:functions/_cron_local

begin;

drop function qwf._cron_local(qwf.cron, timestamp);

commit;
