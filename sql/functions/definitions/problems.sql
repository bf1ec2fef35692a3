-- Problems of a workflow or a pipeline that no schema can see: names, cycles, references.

-- Reports everything that is wrong with a workflow definition, except what compiling finds.
-- Returns one row per problem, with its JSON path. p_pipelines holds the pipelines that it may
-- use, by name; they may have problems themselves. Never raises.
create function _qwf.workflow_problems(p_definition jsonb, p_pipelines jsonb)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_steps jsonb := _qwf.as_list(p_definition -> 'steps');
  v_step_nodes jsonb;  -- ids of the nodes of each step whose pipeline is known
  v_misfits _qwf.problem[];  -- found here: a plan would run it twice, to guess how many there are
begin
  if jsonb_typeof(p_definition) is distinct from 'object' then
    return next row('definition', 'must be an object', null)::_qwf.problem;
    return;
  end if;
  v_misfits := _qwf.misfits(p_definition, '{"$ref": "#/$defs/workflow"}', '');
  return query select * from unnest(v_misfits);
  select coalesce(jsonb_object_agg(i.id, coalesce(inner_node.ids, '{}')), '{}')
  into v_step_nodes
  from _qwf.items(v_steps) i
  cross join lateral (
    select jsonb_object_agg(n.id, true) filter (where n.id is not null) as ids
    from _qwf.items(p_pipelines -> (i.item ->> 'pipeline') -> 'nodes') n) inner_node
  where i.id is not null
    and (p_pipelines ? (i.item ->> 'pipeline')
      or _qwf.step_kind(i.item) in ('input', 'node', 'workflow'));
  return query select * from _qwf.item_problems(v_steps, 'steps', v_step_nodes);
  return query select * from _qwf.compensation_problems(v_steps, 'steps', p_pipelines);
  return query
    select format('steps[%s].pipeline', i.place - 1), format('there is no pipeline "%s"', i.name),
      coalesce(
        _qwf.did_you_mean(i.name, array(select p.name from qwf.pipelines p where p.current)),
        'register the pipeline first')
    from (select l.place, l.item, l.item ->> 'pipeline' as name from _qwf.items(v_steps) l) i
    where i.item ->> 'kind' = 'pipeline' and jsonb_typeof(i.item -> 'pipeline') = 'string'
      and not p_pipelines ? i.name
    union all
    select format('steps[%s].workflow', i.place - 1), format('there is no workflow "%s"', i.name),
      coalesce(
        _qwf.did_you_mean(i.name, array(select w.name from qwf.workflows w where w.current)),
        'register that workflow first')
    from (select l.place, l.item, l.item ->> 'workflow' as name from _qwf.items(v_steps) l) i
    where i.item ->> 'kind' = 'workflow' and jsonb_typeof(i.item -> 'workflow') = 'string'
      and not p_pipelines ? ('workflow:' || i.name);
end $$;

-- Reports what is wrong with a list of nodes or steps as a graph: ids that stand twice,
-- dependencies and cycles. p_step_nodes maps the id of each step to the ids of its nodes, so
-- that depends_on may name step/node. The nodes of a step that it lacks are not checked, because
-- the pipeline is unknown, which is reported elsewhere.
create function _qwf.item_problems(p_list jsonb, p_path text, p_step_nodes jsonb)
returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids text[] := array(select i.id from _qwf.items(p_list) i where i.id is not null);
  v_tails int[];
  v_heads int[];
begin
  return query
    select format('%s[%s].id', p_path, i.place - 1),
      format('"%s" is already the id of %s[%s]', i.id, p_path, i.first_place - 1),
      'choose another id'
    from (
      select l.place, l.id, min(l.place) over (partition by l.id) as first_place
      from _qwf.items(p_list) l) i
    where i.place > i.first_place and i.id is not null
    union all
    select format('%s[%s].depends_on[%s]', p_path, i.place - 1, d.place - 1),
      format('there is no "%s"', d.name), _qwf.did_you_mean(d.name, v_ids)
    from _qwf.items(p_list) i
    cross join lateral (
      select e.place, e.entry #>> '{}' as name, string_to_array(e.entry #>> '{}', '/') as ids
      from jsonb_array_elements(_qwf.as_list(i.item -> 'depends_on'))
        with ordinality as e (entry, place)
      where jsonb_typeof(e.entry) = 'string') d
    where not coalesce(d.ids[1] = any (v_ids), false)
      or cardinality(d.ids) > 2
      or cardinality(d.ids) = 2
        and not coalesce(p_step_nodes -> d.ids[1] ? d.ids[2], p_step_nodes is not null);
  select array_agg(e.tail), array_agg(e.head) into v_tails, v_heads from _qwf.edges(p_list) e;
  return query
    select p_path, 'cycle: ' || string_agg(i.id, ' -> ' order by v.place),
      'remove one of these dependencies'
    from _qwf.cycles(jsonb_array_length(p_list), v_tails, v_heads)
      with ordinality as c (cycle, place)
    cross join lateral unnest(c.cycle) with ordinality as v (vertex, place)
    join _qwf.items(p_list) i on i.place = v.vertex
    group by c.place;
end $$;

-- Reports everything that is wrong with a pipeline definition. Returns one row per problem, with
-- its JSON path, and none for a definition that can be used. Never raises.
create function _qwf.pipeline_problems(p_definition jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_nodes jsonb := _qwf.as_list(p_definition -> 'nodes');
  v_misfits _qwf.problem[];  -- found here: a plan would run it twice, to guess how many there are
begin
  if jsonb_typeof(p_definition) is distinct from 'object' then
    return next row('definition', 'must be an object', null)::_qwf.problem;
    return;
  end if;
  v_misfits := _qwf.misfits(p_definition, '{"$ref": "#/$defs/pipeline"}', '');
  return query select * from unnest(v_misfits);
  return query select * from _qwf.item_problems(v_nodes, 'nodes', null);
  return query select * from _qwf.compensation_problems(v_nodes, 'nodes', '{}');
  return query
    select *
    from _qwf.pipeline_reference_problems(p_definition || jsonb_build_object('nodes', v_nodes));
end $$;

-- Reports references in a pipeline that lead nowhere, as far as the pipeline alone can tell. A
-- node may read the nodes upstream of it and the declared inputs; exports may read any node.
-- Other names may be steps or run context, which registering a workflow checks. While there is a
-- cycle, the order of nodes is not checked.
create function _qwf.pipeline_reference_problems(p_definition jsonb) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nodes jsonb := p_definition -> 'nodes';
  v_declared jsonb := p_definition #> '{inputs,properties}';
  v_upstream bit varying[];  -- null if there is a cycle
begin
  select _qwf.ancestors(cardinality(o), o, e.tails, e.heads, e.wholes)
  into v_upstream
  from (
    select array_agg(tail) as tails, array_agg(head) as heads, array_agg(whole) as wholes
    from _qwf.edges(v_nodes)) e
  cross join lateral _qwf.topological(jsonb_array_length(v_nodes), e.tails, e.heads) o
  where cardinality(o) = jsonb_array_length(v_nodes);
  return query
    with node as materialized (
      select i.id, min(i.place) as place from _qwf.items(v_nodes) i group by i.id
    ), reference as materialized (
      select i.place as reader, e.path, _qwf.segments(e.expression -> '$from') as segments,
        m.key, i.item ?| array['map', 'repeat'] and m.key in ('inputs', 'command')
          or m.key = 'repeat' as is_mapped
      from _qwf.items(v_nodes) i
      cross join lateral jsonb_each(
        i.item || jsonb_build_object('inputs', _qwf.named_inputs(i.item -> 'inputs'))) m
      cross join lateral _qwf.expressions(
        m.value, format('nodes[%s].%s', i.place - 1, m.key)) e
      union all
      select null, e.path, _qwf.segments(e.expression -> '$from'), null, false
      from _qwf.expressions(p_definition -> 'outputs', 'outputs') e
    )
    select r.path, verdict.problem, verdict.hint
    from reference r
    left join node on node.id = r.segments[1]
    cross join lateral (
      select format('the pipeline declares no input "%s"', r.segments[2]) as problem,
        _qwf.did_you_mean(r.segments[2], array(select jsonb_object_keys(v_declared))) as hint
      where r.segments[1] = 'pipeline' and r.segments[2] !~ '^_(implicit|siblings)[(]'
        and jsonb_typeof(v_declared) = 'object' and not v_declared ? r.segments[2]
        and p_definition #> '{inputs,additionalProperties}' is distinct from 'true'
      union all
      select format('"%s" cannot be read here', r.segments[1]),
        case r.key when 'skip_if' then 'skip_if is resolved once; filter the list in "map" instead'
          else 'only inputs beside "map" or "repeat" can read it' end
      where r.segments[1] in ('item', 'index') and not r.is_mapped
      union all
      select '"files" comes after a step or node', 'write {"$from": "<node>.files"}'
      where r.segments[1] = 'files'
      union all
      select 'refers to itself', null
      where node.place = r.reader
      union all
      select format('node "%s" is not upstream: add "%s" to depends_on', node.id, node.id),
        'a reference does not create a dependency; add the node to depends_on'
      where node.place <> r.reader and get_bit(v_upstream[r.reader], node.place - 1) = 0
      union all
      select format('there is no node "%s" in this pipeline', r.segments[1]),
        _qwf.did_you_mean(r.segments[1], array(select n.id from node n))
      where r.reader is null and node.place is null
        and r.segments[1] not in ('pipeline', 'item', 'index', 'files', 'run')) verdict;
end $$;

-- Returns the problems of pipelines that are not registered, as JSON, each with the name of its
-- pipeline. Never raises, whatever the definitions hold.
create function _qwf.given_problems(p_pipelines jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'pipeline', g.key, 'path', p.path, 'message', p.problem, 'hint', p.hint))), '[]')
  from jsonb_each(p_pipelines) g
  cross join lateral (
    select v.path, v.problem, v.hint from _qwf.pipeline_problems(g.value) v
    union all
    select 'name', format('is not "%s"', g.key), 'give the definition under its own name'
    where g.value ->> 'name' <> g.key) p
$$;

-- Reports a queue or a limit that a node names and that does not exist: its jobs would wait
-- forever. The limit that belongs to a queue cannot be named.
create function _qwf.unknown_names(p_kind text, p_name text, p_path text)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_kind = 'queue' then
    return query
      select p_path, format('there is no queue "%s"', p_name), coalesce(
        _qwf.did_you_mean(p_name, array(select q.name from qwf.queues q)),
        'ask an administrator to create it: select qwf.create_queue(''name'')')
      where not exists (select from qwf.queues q where q.name = p_name)
      union all
      select p_path, 'names that begin with qwf. belong to the engine', null
      where starts_with(p_name, 'qwf.');
  else
    return query
      select p_path, format('there is no limit "%s"', p_name), coalesce(
        _qwf.did_you_mean(p_name, array(
          select l.name from qwf.limits l where not starts_with(l.name, 'queue:'))),
        'ask an administrator to create it: select qwf.create_limit(''name'', max_running => 2)')
      where not _qwf.names_key(p_name)
        and not exists (
          select from qwf.limits l where l.name = p_name and not starts_with(l.name, 'queue:'))
      union all
      select p_path, format('limit "%s" counts by key', p_name), format('write %s:KEY', p_name)
      where exists (select from qwf.limits l where l.name = p_name and l.keyed);
  end if;
end $$;

-- Reports malformed expressions in a value of a definition. Checks only the form; whether the
-- names exist is for the checks of references. For _implicit and _siblings, which an older
-- format of pipelines had, the hint gives the replacement.
create function _qwf.expression_problems(p_value jsonb, p_path text) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operators constant text[] := '{$from,$value,$coalesce,$default,$filter,$eq,$ne}';
begin
  return query
    select e.path, verdict.problem, verdict.hint
    from _qwf.expressions(p_value, p_path) e
    cross join lateral (
      select
        case
          when e.expression ->> '$from' ~ '^pipeline[.]_(implicit|siblings)([^[:alnum:]_]|$)'
            then e.expression ->> '$from'
        end as old,
        case
          when e.depth > 50 then 'is nested more than 50 levels deep'
          when e.expression ? '$check' then '"$check" is not an operator'
          else coalesce(
            _qwf.malformed(e.expression),
            case when e.expression ? '$from' and _qwf.segments(e.expression -> '$from') is null
              then '"$from" holds something that is neither a name nor an integer' end,
            (select format('"$filter" key "%s" needs a regular expression', c.key)
             from jsonb_each(e.expression -> '$filter') c
             where (_qwf.filter_operator(c.key))[1] = 'matches'
               and jsonb_typeof(c.value) <> 'object' and not _qwf.is_pattern(c.value)
             limit 1))
        end as malformed) shape
    cross join lateral (
      select case when shape.old like '%_implicit%' then '"_implicit" is not a reference'
            else '"_siblings" is not a reference' end as problem,
        case when shape.old like '%_implicit%' then
          'write inputs as an object, {"name": value, ...}; a list of them takes references only'
          else 'depend on those nodes and read {"$from": "<node>.files"} of each' end as hint
      where shape.old is not null
      union all
      select shape.malformed, coalesce(
        (select _qwf.did_you_mean(k, v_operators)
         from jsonb_object_keys(_qwf.as_object(e.expression)) k
         where k <> all (v_operators)
         limit 1),
        'see docs/references.md; put data with a key that starts with $ into {"$value": ...}')
      where shape.old is null and shape.malformed is not null) verdict;
end $$;
