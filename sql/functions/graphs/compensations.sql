-- Nodes that undo others, in reverse order of their work.

-- Puts the compensation nodes of a workflow behind all other nodes, each with what it waits for.
-- Later effects are taken back first. So a compensation node comes after those of nodes that
-- follow from its own; if that leads in a circle, the result has a problem. Nothing changes for
-- a workflow without compensation nodes.
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

-- Returns what each compensation node of a workflow waits for: the nodes that it takes back, all
-- that follows from these, and the compensation nodes of those that follow. Lists of ids of
-- nodes, by the id of the compensation node. Two that take back the same node do not wait for
-- each other.
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

-- Reports what compensation nodes of a list of nodes or steps name that cannot be taken back,
-- and what depends on them. p_pipelines holds the pipelines of steps, by name; one that it lacks
-- is reported elsewhere. Never raises, whatever the list holds.
create function _qwf.compensation_problems(p_list jsonb, p_path text, p_pipelines jsonb)
returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    with item as materialized (
      select i.place, i.id, i.item, format('%s[%s].compensates', p_path, i.place - 1) as path
      from _qwf.items(p_list) i
    ), named as materialized (
      select i.path || format('[%s]', c.place - 1) as path, i.id as by, c.entry #>> '{}' as id,
        t.item as target, n.item as inner_node,
        t.item ->> 'kind' = 'pipeline' as is_pipeline,
        p_pipelines -> (t.item ->> 'pipeline') as pipeline
      from item i
      cross join lateral jsonb_array_elements(_qwf.as_list(i.item -> 'compensates'))
        with ordinality as c (entry, place)
      left join item t on t.id = split_part(c.entry #>> '{}', '/', 1)
        and t.place = (select min(f.place) from item f where f.id = t.id)
      left join lateral _qwf.items(p_pipelines -> (t.item ->> 'pipeline') -> 'nodes') n
        on n.id = substr(c.entry #>> '{}', length(t.id) + 2)
      where jsonb_typeof(c.entry) = 'string'
    )
    select n.path, verdict.problem, verdict.hint
    from named n
    cross join lateral (
      select format('there is no "%s"', n.id) as problem,
        _qwf.did_you_mean(n.id, array(select i.id from item i where i.id is not null)) as hint
      where n.target is null or n.id like '%/%'
        and (not n.is_pipeline or n.pipeline is not null and n.inner_node is null)
      union all
      select format('"%s" is a pipeline', n.id), 'name one of its nodes' || coalesce(
        format(', such as "%s/%s"', n.id, n.pipeline #>> '{nodes,-1,id}'), '')
      where n.is_pipeline and n.id not like '%/%'
      union all
      select format('"%s" is a compensation node itself', n.id), null
      where coalesce(n.inner_node, n.target) ? 'compensates'
      union all
      select format('"%s" has "run_if"', n.id), 'it runs at the end of the run in any case'
      where coalesce(n.inner_node, n.target) ? 'run_if') verdict
    union all
    select i.path, 'only compensation nodes may depend on it',
      format('leave it out of depends_on of "%s"', d.id)
    from item i join item d
      on exists (
        select from jsonb_array_elements_text(_qwf.as_list(d.item -> 'depends_on')) e
        where e = i.id)
    where i.item ? 'compensates'
    union all
    select format('%s[%s].depends_on', p_path, d.place - 1),
      format('"%s" is a compensation node: nothing may depend on it', e.id), null
    from item d
    cross join lateral jsonb_array_elements_text(_qwf.as_list(d.item -> 'depends_on')) e (id)
    join item t on t.id = split_part(e.id, '/', 1) and e.id like '%/%'
    join lateral _qwf.items(p_pipelines -> (t.item ->> 'pipeline') -> 'nodes') n
      on n.id = split_part(e.id, '/', 2) and n.item ? 'compensates';
end $$;
