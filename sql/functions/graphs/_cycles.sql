-- Deploy qwf:functions/graphs/_cycles
-- Purpose: The cycles of a graph, each as the vertices along it.
-- Guarantees: No row exactly when there is no cycle; at most ten, so that a dense graph does not
--   fill the message.
-- Called by: _item_problems.

begin;

create function _qwf.cycles(p_count int, p_from int[], p_to int[]) returns setof int[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from int[] := p_from;
  v_to int[] := p_to;
  v_stuck int[];
  v_tail int[];  -- one stuck vertex that points at v
  v_path int[];
  v_first int;  -- where its lowest vertex is: a cycle is told from there
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
    select array_agg(e.tail), array_agg(e.head)  -- open this cycle, look for others
    into v_from, v_to
    from unnest(v_from, v_to) e (tail, head)
    where (e.tail, e.head) <> (v_path[1], v_path[2]);
  end loop;
end $$;

commit;
