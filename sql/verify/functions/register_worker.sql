-- Verify qwf:functions/register_worker

begin;

select 'qwf.register_worker(text, text, jsonb)'::regprocedure;

rollback;
