-- Deploy qwf:functions/dags/_topological
-- Purpose: Sorts the vertices 1 to p_count so that every edge points forward.
-- Guarantees: Takes linear time in vertices and edges. Vertices on or behind a cycle are left out.
--   Each edge must be given only once.
-- Called by: _compile, _cycles, _pipeline_reference_problems, _pipeline_shape,
--   _with_compensations.

begin;

create function _qwf.topological(p_count int, p_from int[], p_to int[]) returns int[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_heads int[] := array(
    select e.head from unnest(p_from, p_to) e (tail, head) order by e.tail, e.head);
  v_start int[];   -- v_heads[v_start[v] + 1 ..] are the heads of edges from v
  v_missing int[]; -- number of edges to v whose tail is not yet in v_order
  v_order int[];
  v_vertex int;
  v_done int := 0;
begin
  if cardinality(v_heads) = 0 then
    return array(select generate_series(1, p_count));
  end if;
  select array_agg(v.starts order by v.id), array_agg(v.incoming order by v.id),
    array_agg(v.id order by v.id) filter (where v.incoming = 0)
  into v_start, v_missing, v_order
  from (
    select id, coalesce(i.edges, 0)::int as incoming,
      (sum(coalesce(o.edges, 0)) over (order by id) - coalesce(o.edges, 0))::int as starts
    from generate_series(1, p_count + 1) id
    left join (select v, count(*) as edges from unnest(p_to) v group by v) i on i.v = id
    left join (select v, count(*) as edges from unnest(p_from) v group by v) o on o.v = id) v;
  v_order := array_remove(v_order, p_count + 1);
  while v_done < cardinality(v_order) loop
    v_done := v_done + 1;
    v_vertex := v_order[v_done];
    for v_edge in v_start[v_vertex] + 1 .. v_start[v_vertex + 1] loop
      v_missing[v_heads[v_edge]] := v_missing[v_heads[v_edge]] - 1;
      if v_missing[v_heads[v_edge]] = 0 then
        v_order := v_order || v_heads[v_edge];
      end if;
    end loop;
  end loop;
  return v_order;
end $$;

commit;
