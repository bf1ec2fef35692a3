-- Verify qwf:functions/follow_log

begin;

select 'qwf.follow_log(bigint)'::regprocedure;

rollback;
