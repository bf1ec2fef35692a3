-- Deploy qwf:functions/graphs/_step_dependencies
-- Purpose: Returns the nodes that a step waits for, and the nodes that it may read in steps it only
--   partly waits for.
-- Guarantees: The name of a step stands for its leaves or, if it has no nodes, for what that step
--   itself waits for. step/node stands for that node alone; partial then lists the node and
--   everything upstream of it in its step. partial also includes the partial lists of all
--   dependencies.
-- Called by: _compile.

begin;

create function _qwf.step_dependencies(p_step jsonb, p_places jsonb, p_parts jsonb[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waits jsonb;
  v_partial jsonb;
begin
  with dependency as materialized (
    select d.id, d.id like '%/%' as is_node,
      p_parts[(p_places -> split_part(d.id, '/', 1))::int] as part
    from (select distinct e as id
          from jsonb_array_elements_text(_qwf.as_list(
            coalesce(p_step -> 'depends_on', p_step -> 'compensates'))) e) d
  )
  select
    (select coalesce(jsonb_agg(distinct w.id), '[]')
     from dependency d
     cross join lateral jsonb_array_elements(
       case
         when d.is_node then
           case when d.part #> '{name,nodes}' ? d.id then jsonb_build_array(d.id) end
         when d.part -> 'nodes' = '[]' then d.part -> 'waits'
         else d.part #> '{name,leaves}'
       end) w (id)),
    (select coalesce(jsonb_object_agg(p.id, true), '{}')
     from (
       select jsonb_object_keys(_qwf.upstream_nodes(d.part -> 'nodes', d.id)) as id
       from dependency d
       where d.is_node and d.part #> '{name,nodes}' ? d.id
       union
       select jsonb_object_keys(d.part -> 'partial') from dependency d) p)
  into v_waits, v_partial;
  return jsonb_build_object('waits', v_waits, 'partial', v_partial);
end $$;

commit;
