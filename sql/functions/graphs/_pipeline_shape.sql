-- Deploy qwf:functions/graphs/_pipeline_shape
-- Purpose: Describes a pipeline as one step sees it: nodes in topological order, leaves, names of
--   nodes, and values that may hold references.
-- Guarantees: A node is known by its own id and as step/node. A leaf is a node that no other node
--   depends on; compensation nodes do not count. The definition has been registered, so it has no
--   cycle and no duplicate id.
-- Called by: _compile_step.

begin;

create function _qwf.pipeline_shape(p_pipeline jsonb, p_step_id text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes jsonb := p_pipeline -> 'nodes';
  v_tails int[];
  v_heads int[];
  v_before int[];  -- nodes that others follow
  v_shape jsonb;
begin
  select array_agg(e.tail), array_agg(e.head) into v_tails, v_heads from _qwf.edges(v_nodes) e;
  v_before := array(
    select e.tail from unnest(v_tails, v_heads) e (tail, head)
    where not v_nodes -> (e.head - 1) ? 'compensates');
  with node as materialized (
    select i.item, i.place, o.position, i.id, p_step_id || '/' || i.id as node_id,
      not i.item ? 'compensates' and i.place <> all (v_before) as is_leaf
    from unnest(_qwf.topological(jsonb_array_length(v_nodes), v_tails, v_heads))
      with ordinality as o (place, position)
    join _qwf.items(v_nodes) i on i.place = o.place
  )
  select jsonb_build_object(
    'nodes', coalesce(jsonb_agg(n.item order by n.position), '[]'),
    'leaves', coalesce(jsonb_agg(n.node_id order by n.position) filter (where n.is_leaf), '[]'),
    'names', coalesce(
      jsonb_object_agg(n.id, stands_for.name) || jsonb_object_agg(n.node_id, stands_for.name),
      '{}'),
    'references', jsonb_build_object(
      'outputs', p_pipeline -> 'outputs',
      'nodes', jsonb_agg(
        n.item || jsonb_build_object('inputs', _qwf.named_inputs(n.item -> 'inputs'))
        order by n.place)))
  into v_shape
  from node n
  cross join lateral (
    select jsonb_build_object('id', n.node_id, 'leaves', jsonb_build_array(n.node_id)) as name
  ) stands_for;
  return v_shape;
end $$;

commit;
