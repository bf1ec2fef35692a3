-- Verify qwf:functions/enqueue_run

begin;

select 'qwf.enqueue_run(text, jsonb, int, timestamptz, text, text, text, jsonb, boolean)'::regprocedure;

rollback;
