-- Verify qwf:functions/_cron_local

begin;

select 'qwf._cron_local(qwf.cron, timestamp)'::regprocedure;

rollback;
