-- Items, edges, order and cycles of a graph.

-- Returns the objects in a list of nodes or steps, with their positions from 1. Accepts any
-- value, so that one mistake does not hide the others. A value that is not a list gives no rows.
-- An entry that is not an object is left out, but keeps its position.
create function _qwf.items(p_list jsonb) returns table (place int, id text, item jsonb)
language sql immutable
as $$
  select i.place::int, i.item ->> 'id', i.item
  from jsonb_array_elements(_qwf.as_list(p_list))
    with ordinality as i (item, place)
  where jsonb_typeof(i.item) = 'object'
$$;

-- Returns the edges that depends_on makes between nodes or steps, as positions from 1. A
-- compensation node depends on what it compensates. Returns each edge once. An entry step/node
-- makes an edge from its step, but not a whole one. An entry that names nothing makes no edge.
-- If an id is used twice, the first one counts.
create function _qwf.edges(p_list jsonb) returns table (tail int, head int, whole boolean)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select named.place, dependant.place, bool_or(entry.id not like '%/%')
    from _qwf.items(p_list) dependant
    cross join lateral
      jsonb_array_elements_text(_qwf.as_list(
        coalesce(dependant.item -> 'depends_on', dependant.item -> 'compensates'))) entry (id)
    join (
      select i.id, min(i.place) as place
      from _qwf.items(p_list) i
      group by i.id) named on named.id = split_part(entry.id, '/', 1)
    group by named.place, dependant.place;
end $$;

-- Sorts the vertices 1 to p_count so that every edge points forward. Takes linear time in
-- vertices and edges. Vertices on or behind a cycle are left out. Each edge must be given only
-- once.
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

-- Finds the cycles of a graph, each as the list of its vertices. Returns no row if and only if
-- there is no cycle. Returns at most 10 cycles, to keep the error message short for a dense
-- graph.
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

-- Returns, for each vertex, all vertices upstream of it. Bit u - 1 of element v is set when u is
-- upstream of v, at any distance. An edge that is not whole passes on everything behind its
-- tail, but not the tail itself. The cost is one OR per edge: in a chain of 1000 nodes that all
-- refer to the first one, no node needs a walk of its own.
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

-- Returns a node of a compiled step and all nodes upstream of it in that step, as keys of an
-- object. Visits each node once.
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

-- Returns the workflows that nodes of a pipeline, or steps of a workflow, run as runs of their
-- own: sorted, each once.
create function _qwf.runs_below(p_items jsonb) returns text[]
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select distinct (i.item ->> 'workflow') collate "C"
    from _qwf.items(p_items) i
    where jsonb_typeof(i.item -> 'workflow') = 'string'
    order by 1)
$$;

-- Returns the workflows that a workflow runs as runs of its own: by its steps, and by the nodes
-- of the current versions of its pipelines.
create function _qwf.child_names(p_workflows text[], p_pipelines text[]) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select c from unnest(p_workflows) c
    union
    select c from qwf.pipelines p cross join lateral unnest(p.workflow_names) c
    where p.name = any (p_pipelines) and p.current and p.workflow_names <> '{}')
$$;

-- Returns the kind of a step. A step with a task or a command is a node, and need not say so.
-- Null for a step that does not say what it is. Never raises.
create function _qwf.step_kind(p_step jsonb) returns text
language sql immutable
as $$
  select coalesce(p_step ->> 'kind', case when p_step ?| array['node', 'command'] then 'node' end)
$$;

-- Returns a node of a graph, or of a run that its nodes start, that needs one of these limits;
-- null: none does. A run that holds a place of such a limit would wait for itself. Visits each
-- graph below once.
create function _qwf.limit_inside(p_graph bigint, p_limits text[]) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive below (graph_id) as (
    select p_graph
    union
    select n.child_graph_id
    from below b join qwf.graph_nodes n on n.graph_id = b.graph_id
    where n.child_graph_id is not null
  )
  select format('node %s of workflow %s', n.node_id, w.name)
  from below b
  join qwf.graph_nodes n on n.graph_id = b.graph_id and n.limit_by = any (p_limits)
  join qwf.graphs g on g.id = n.graph_id
  join qwf.workflows w on w.id = g.workflow_id
  order by n.graph_id <> p_graph, n.graph_id desc, n.idx
  limit 1
$$;
