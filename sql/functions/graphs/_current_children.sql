-- Deploy qwf:functions/graphs/_current_children
-- Purpose: Returns the graphs of the current versions of named workflows, and what a step that runs
--   one has to know, under workflow:NAME: its graph and the schema of its inputs.
-- Guarantees: The ids are sorted by the name of the workflow, as graphs store them. Compiles a
--   workflow whose pipelines have changed. An unknown name is left out.
-- Raises: QW003 if one of them no longer fits its pipelines.
-- Called by: _graph_for, _recompile, register_workflow.

begin;

create function _qwf.current_children(p_names text[], out ids bigint[], out definitions jsonb)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_child record;
begin
  ids := '{}';
  definitions := '{}';
  for v_child in
    select w.name, w.definition -> 'inputs' as inputs, _qwf.graph_for(w.name) as graph
    from qwf.workflows w
    where w.name = any (p_names) and w.current
    order by w.name collate "C"
  loop
    ids := ids || v_child.graph;
    definitions := definitions || jsonb_build_object('workflow:' || v_child.name,
      jsonb_build_object('graph', v_child.graph, 'inputs', coalesce(v_child.inputs, '{}')));
  end loop;
end $$;

commit;
