-- Verify qwf:functions/_backoff_seconds

begin;

select 'qwf._backoff_seconds(jsonb, int)'::regprocedure;

rollback;
