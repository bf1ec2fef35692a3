-- Verify qwf:functions/enqueue_many

begin;

select 'qwf.enqueue_many(jsonb)'::regprocedure;

rollback;
