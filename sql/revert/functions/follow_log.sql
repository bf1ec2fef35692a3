-- Revert qwf:functions/follow_log

begin;

drop function qwf.follow_log(bigint);

commit;
