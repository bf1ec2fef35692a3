-- Deploy qwf:functions/definitions/_nesting_problems
-- Purpose: Reports a workflow that would run itself, and runs that would be nested too deeply.
-- Guarantees: Counts down from the workflow and up to those that run it, so no tree of more than 8
--   levels below its top can be registered, in whatever order.
-- Called by: register_pipeline, register_workflow.

begin;

create function _qwf.nesting_problems(p_name text, p_children text[])
returns setof _qwf.problem
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive down (name, depth, path) as (
    select c, 1, p_name || ' -> ' || c from unnest(p_children) c
    union all
    select c, d.depth + 1, d.path || ' -> ' || c
    from down d
    join qwf.workflows w on w.name = d.name and w.current
    cross join lateral unnest(_qwf.child_names(w.workflow_names, w.pipeline_names)) c
    where d.name <> p_name and d.depth < 10
  ), up (name, depth) as (
    select p_name, 0
    union
    select w.name, u.depth + 1
    from up u join qwf.workflows w on w.current
      and u.name = any (_qwf.child_names(w.workflow_names, w.pipeline_names))
    where u.depth < 10
  ), cycle as (
    select min(d.path) as path from down d where d.name = p_name
  )
  select 'steps', 'cycle: ' || c.path, 'a workflow cannot run itself, not even through another one'
  from cycle c
  where c.path is not null
  union all
  select 'steps', 'runs are nested more than 8 deep',
    'make two levels one: a pipeline is part of the run'
  from cycle c
  where c.path is null
    and (select coalesce(max(d.depth), 0) from down d) + (select max(u.depth) from up u) > 8
$$;

commit;
