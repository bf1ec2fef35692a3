-- Verify qwf:functions/register_workflow

begin;

select 'qwf.register_workflow(jsonb)'::regprocedure;

rollback;
