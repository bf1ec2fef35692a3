-- Verify qwf:functions/_cron_day

begin;

select 'qwf._cron_day(qwf.cron, date)'::regprocedure;

rollback;
