-- Deploy qwf:functions/dags/_runs_below
-- Purpose: Returns the workflows that nodes of a pipeline, or steps of a workflow, run as runs of
--   their own: sorted, each once.
-- Called by: register_pipeline, register_workflow.

begin;

create function _qwf.runs_below(p_items jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select distinct (i.item ->> 'workflow') collate "C"
    from _qwf.items(p_items) i
    where jsonb_typeof(i.item -> 'workflow') = 'string'
    order by 1)
$$;

commit;
