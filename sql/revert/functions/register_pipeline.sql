-- Revert qwf:functions/register_pipeline

begin;

drop function qwf.register_pipeline(jsonb);

commit;
