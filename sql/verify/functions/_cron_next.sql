-- Verify qwf:functions/_cron_next

begin;

select 'qwf._cron_next(qwf.cron, text, timestamptz)'::regprocedure;

rollback;
