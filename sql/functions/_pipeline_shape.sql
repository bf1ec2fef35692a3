-- Deploy qwf:functions/_pipeline_shape
-- requires: functions/_edges
-- requires: functions/_items
-- requires: functions/_named_inputs
-- requires: functions/_topological
-- Purpose: A pipeline as seen from one step: nodes in topological order, leaves, names of its nodes, what holds references.
-- Guarantees: A node is known by its own id and as step/node. A leaf is a node that no node depends on. The definition has
--   been registered, so it has no cycle and no double id.
-- Called by: _compile_step.

begin;

create function qwf._pipeline_shape(p_pipeline jsonb, p_step_id text) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  with graph as materialized (
    select coalesce(array_agg(e.tail), '{}') as tails, coalesce(array_agg(e.head), '{}') as heads
    from qwf._edges(p_pipeline -> 'nodes') e
  ), node as materialized (
    select i.id, i.item, i.place, o.position, p_step_id || '/' || i.id as node_id,
      jsonb_build_object('id', p_step_id || '/' || i.id, 'leaves', jsonb_build_array(p_step_id || '/' || i.id)) as stands_for,
      not i.place in (select unnest(tails) from graph) as is_leaf
    from graph
    cross join lateral unnest(qwf._topological(jsonb_array_length(p_pipeline -> 'nodes'), tails, heads))
      with ordinality as o (place, position)
    join qwf._items(p_pipeline -> 'nodes') i on i.place = o.place
  )
  select jsonb_build_object(
    'nodes', coalesce(jsonb_agg(n.item order by n.position), '[]'),
    'leaves', coalesce(jsonb_agg(n.node_id order by n.position) filter (where n.is_leaf), '[]'),
    'names', coalesce(jsonb_object_agg(n.id, n.stands_for) || jsonb_object_agg(n.node_id, n.stands_for), '{}'),
    'references', jsonb_build_object(
      'outputs', p_pipeline -> 'outputs',
      'nodes', jsonb_agg(
        (n.item - 'inputs') || jsonb_build_object('inputs', qwf._named_inputs(n.item -> 'inputs')) order by n.place)))
  from node n
$$;

comment on function qwf._pipeline_shape(jsonb, text) is
  'Returns the nodes of a pipeline in topological order, its leaves, and what the names of its nodes stand for.';
revoke all on function qwf._pipeline_shape(jsonb, text) from public;

commit;
