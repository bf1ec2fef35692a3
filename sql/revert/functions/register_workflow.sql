-- Revert qwf:functions/register_workflow

begin;

drop function qwf.register_workflow(jsonb);

commit;
