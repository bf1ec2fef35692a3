-- Deploy qwf:functions/dags/_with_compensations
-- Purpose: Puts the compensation nodes of a workflow behind all other nodes, each with what it
--   waits for.
-- Guarantees: Later effects are taken back first. So a compensation node comes after those of nodes
--   that follow from its own; if that leads in a circle, the result has a problem. Nothing changes
--   for a workflow without compensation nodes.
-- Called by: _compile.

begin;

create function _qwf.with_compensations(p_parts jsonb[]) returns jsonb[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waits jsonb;  -- of each compensation node
  v_ids text[];
  v_first int[];
  v_then int[];
  v_nodes jsonb;
begin
  if not exists (
    select from unnest(p_parts) p
    where p @? '$.nodes[*] ? (@.run_if == "compensates")')
  then
    return p_parts;
  end if;
  v_waits := _qwf.compensation_waits(p_parts);
  v_ids := array(select k from jsonb_object_keys(v_waits) k order by k);
  select array_agg(f.place), array_agg(t.place) into v_first, v_then
  from unnest(v_ids) with ordinality as t (id, place)
  join unnest(v_ids) with ordinality as f (id, place) on v_waits -> t.id ? f.id;
  select jsonb_object_agg(n ->> 'node_id', n) into v_nodes
  from unnest(p_parts) p
  cross join lateral jsonb_path_query(p, '$.nodes[*] ? (@.run_if == "compensates")') n;
  return array(
      select p.part || jsonb_build_object('nodes',
        jsonb_path_query_array(p.part, '$.nodes[*] ? (!(@.run_if == "compensates"))'))
      from unnest(p_parts) with ordinality as p (part, place) order by p.place)
    || array(
      select jsonb_build_object('nodes', jsonb_build_array(v_nodes -> v_ids[o.vertex]),
        'waits', v_waits -> v_ids[o.vertex], 'checks', jsonb '[]', 'problems', jsonb '[]')
      from unnest(_qwf.topological(cardinality(v_ids), v_first, v_then))
        with ordinality as o (vertex, place)
      order by o.place)
    || array(
      select jsonb_build_object('nodes', jsonb '[]', 'waits', jsonb '[]', 'checks', jsonb '[]',
        'problems', jsonb_build_array(jsonb_build_object(
          'path', 'steps', 'hint', 'let one node compensate both',
          'problem', 'cycle: ' || (
            select string_agg(v_ids[v.vertex], ' -> ' order by v.place)
            from unnest(c.cycle) with ordinality as v (vertex, place)))))
      from _qwf.cycles(cardinality(v_ids), v_first, v_then) c (cycle));
end $$;

commit;
