-- Revert qwf:functions/_cron_next

begin;

drop function qwf._cron_next(qwf.cron, text, timestamptz);

commit;
