-- Deploy qwf:functions/dags/_ancestors
-- Purpose: Returns, for each vertex, all vertices upstream of it.
-- Guarantees: Bit u - 1 of element v is set when u is upstream of v, at any distance. An edge that
--   is not whole passes on everything behind its tail, but not the tail itself. The cost is one OR
--   per edge: in a chain of 1000 nodes that all refer to the first one, no node needs a walk of its
--   own.
-- Called by: _pipeline_reference_problems, _compile.

begin;

create function _qwf.ancestors(
  p_count int, p_order int[], p_from int[], p_to int[], p_whole boolean[])
returns bit varying[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_none bit varying := repeat('0', p_count)::bit varying;
  v_reach bit varying[] := array_fill(v_none, array[p_count]);
  v_tail int;
  v_head int;
  v_whole boolean;
begin
  for v_tail, v_head, v_whole in
    select e.tail, e.head, e.whole
    from unnest(p_from, p_to, p_whole) e (tail, head, whole)
    join unnest(p_order) with ordinality as o (vertex, position) on o.vertex = e.head
    order by o.position
  loop
    v_reach[v_head] := v_reach[v_head] | v_reach[v_tail];
    if v_whole then
      v_reach[v_head] := set_bit(v_reach[v_head], v_tail - 1, 1);
    end if;
  end loop;
  return v_reach;
end $$;

commit;
