-- Deploy qwf:functions/dags/_cycles
-- Purpose: Finds the cycles of a graph, each as the list of its vertices.
-- Guarantees: Returns no row if and only if there is no cycle. Returns at most 10 cycles, to keep
--   the error message short for a dense graph.
-- Called by: _item_problems, _with_compensations.

begin;

create function _qwf.cycles(p_count int, p_from int[], p_to int[]) returns setof int[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from int[] := p_from;
  v_to int[] := p_to;
  v_stuck int[];
  v_tail int[];  -- v_tail[v] is one stuck vertex with an edge to v
  v_path int[];
  v_first int;  -- position of the lowest vertex, which comes first in the result
begin
  for v_round in 1 .. 10 loop
    v_stuck := array(
      select generate_series(1, p_count)
      except
      select unnest(_qwf.topological(p_count, v_from, v_to)));
    if v_stuck = '{}' then
      return;
    end if;
    select array_agg(found.tail order by v)
    into v_tail
    from generate_series(1, p_count) v
    left join (
      select e.head, min(e.tail) as tail
      from unnest(v_from, v_to) e (tail, head)
      where e.head = any (v_stuck) and e.tail = any (v_stuck)
      group by e.head) found on found.head = v;
    v_path := v_stuck[1:1];
    while cardinality(v_path) < 2 or not v_path[1] = any (v_path[2:]) loop
      v_path := v_tail[v_path[1]] || v_path;  -- every stuck vertex has a stuck one before it
    end loop;
    v_path := v_path[1:array_position(v_path, v_path[1], 2)];
    v_first := array_position(v_path, (select min(v) from unnest(v_path) v));
    v_path := v_path[v_first:cardinality(v_path) - 1] || v_path[1:v_first];
    return next v_path;
    select array_agg(e.tail), array_agg(e.head)  -- break this cycle and look for others
    into v_from, v_to
    from unnest(v_from, v_to) e (tail, head)
    where (e.tail, e.head) <> (v_path[1], v_path[2]);
  end loop;
end $$;

commit;
