-- Verify qwf:functions/_check_job

begin;

select 'qwf._check_job(text, text, jsonb, text, jsonb, jsonb, jsonb, int, interval, int, text, text, interval)'::regprocedure;

rollback;
