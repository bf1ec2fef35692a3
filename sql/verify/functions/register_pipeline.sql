-- Verify qwf:functions/register_pipeline

begin;

select 'qwf.register_pipeline(jsonb)'::regprocedure;

rollback;
