-- Deploy qwf:functions/_waits
-- requires: schema/qwf
-- requires: functions/_list
-- Purpose: The nodes a step waits for, and which nodes of a step it only partly waits for.
-- Guarantees: A step stands for its leaves; one without nodes for what it waits for itself.
--   step/node stands for that node: then partial lists it and what lies upstream of it in its own
--   step, for whoever refers to them.
-- Called by: _compile.

begin;

create function qwf._waits(p_step jsonb, p_places jsonb, p_parts jsonb[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waits jsonb;
  v_partial jsonb;
begin
  with recursive dependency as materialized (
    select d.id, d.id like '%/%' as is_node,
      p_parts[(p_places -> split_part(d.id, '/', 1))::int] as part
    from (select distinct e as id
          from jsonb_array_elements_text(qwf._list(p_step -> 'depends_on')) e) d
  ), needed (id, part) as (
    select d.id, d.part from dependency d where d.is_node and d.part #> '{name,nodes}' ? d.id
    union
    select split_part(needed.id, '/', 1) || '/' || upstream.id, needed.part
    from needed
    join lateral jsonb_array_elements(needed.part -> 'nodes') node on node ->> 'node_id' = needed.id
    cross join lateral jsonb_array_elements_text(node -> 'depends_on') upstream (id)
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
     from (select id from needed
           union
           select jsonb_object_keys(d.part -> 'partial') from dependency d) p)
  into v_waits, v_partial;
  return jsonb_build_object('waits', v_waits, 'partial', v_partial);
end $$;

comment on function qwf._waits(jsonb, jsonb, jsonb[]) is
  'Returns the ids of the nodes that the sources of a step wait for, and the nodes it may read '
  'of steps waited for in part.';
revoke all on function qwf._waits(jsonb, jsonb, jsonb[]) from public;

commit;
