-- Verify qwf:functions/enqueue

begin;

select 'qwf.enqueue(text, jsonb, text, int, timestamptz, text, int, jsonb, interval, text, int, jsonb, text, text, interval, text, jsonb, boolean)'::regprocedure;

rollback;
