-- Verify qwf:functions/_read_cron

begin;

select 'qwf._read_cron(text)'::regprocedure;

rollback;
