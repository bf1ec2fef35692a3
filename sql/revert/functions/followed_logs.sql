-- Revert qwf:functions/followed_logs

begin;

drop function qwf.followed_logs(text);

commit;
