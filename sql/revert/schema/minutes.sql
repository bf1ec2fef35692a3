-- Revert qwf:schema/minutes

begin;

drop table qwf.queue_minutes;
drop table qwf.host_minutes;

commit;
