-- Deploy qwf:functions/dags/_compensation_waits
-- Purpose: Returns what each compensation node of a workflow waits for: the nodes that it takes
--   back, all that follows from these, and the compensation nodes of those that follow.
-- Guarantees: Lists of ids of nodes, by the id of the compensation node. Two that take back the
--   same node do not wait for each other.
-- Called by: _with_compensations.

begin;

create function _qwf.compensation_waits(p_parts jsonb[]) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
  with recursive node as materialized (
    select n.node, n.node ->> 'node_id' as id, n.node ->> 'step_id' as step,
      coalesce(n.node -> 'depends_on', '[]') as needs,
      coalesce(n.node -> 'run_if' = '"compensates"', false) as compensates,
      p.part -> 'waits' as waits
    from unnest(p_parts) p (part)
    cross join lateral jsonb_array_elements(p.part -> 'nodes') n (node)
  ), edge as materialized (
    select n.step || '/' || d.id as tail, n.id as head
    from node n cross join lateral jsonb_array_elements_text(n.needs) d (id)
    union
    select w.id, n.id
    from node n cross join lateral jsonb_array_elements_text(n.waits) w (id)
    where n.needs = '[]' and not n.compensates
  ), taken as materialized (
    select n.id as by, t.id
    from node n cross join lateral jsonb_array_elements_text(n.node -> 'compensates') t (id)
    where n.compensates
  ), following (by, id) as (
    select t.by, e.head from taken t join edge e on e.tail = t.id
    union
    select f.by, e.head from following f join edge e on e.tail = f.id
  ), waiting as (
    select t.by, t.id from taken t
    union
    select f.by, f.id from following f
    union
    select f.by, t.by from following f join taken t on t.id = f.id where t.by <> f.by
  )
  select jsonb_object_agg(w.by, w.ids)
  from (select by, jsonb_agg(id order by id) as ids from waiting group by by) w
$$;

commit;
