-- Revert qwf:schema/live_logs

begin;

drop table qwf.live_logs;
drop type qwf.live_log;

commit;
