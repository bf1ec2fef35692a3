-- Verify qwf:functions/_read_cron_field

begin;

select 'qwf._read_cron_field(text, int, int, text[])'::regprocedure;

rollback;
