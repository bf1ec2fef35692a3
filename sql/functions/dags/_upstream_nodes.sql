-- Deploy qwf:functions/dags/_upstream_nodes
-- Purpose: Returns a node of a compiled step and all nodes upstream of it in that step, as keys of
--   an object.
-- Guarantees: Visits each node once.
-- Called by: _step_dependencies.

begin;

create function _qwf.upstream_nodes(p_nodes jsonb, p_node_id text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with recursive node as materialized (
      select n ->> 'node_id' as id, n -> 'depends_on' as depends_on
      from jsonb_array_elements(p_nodes) n
    ), needed (id) as (
      values (p_node_id)
      union
      select split_part(needed.id, '/', 1) || '/' || d.id
      from needed
      join node on node.id = needed.id
      cross join lateral jsonb_array_elements_text(node.depends_on) d (id)
    )
    select jsonb_object_agg(needed.id, true) from needed);
end $$;

commit;
