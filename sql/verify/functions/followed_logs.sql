-- Verify qwf:functions/followed_logs

begin;

select 'qwf.followed_logs(text)'::regprocedure;

rollback;
