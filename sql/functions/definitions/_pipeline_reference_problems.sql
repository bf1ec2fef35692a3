-- Deploy qwf:functions/definitions/_pipeline_reference_problems
-- Purpose: Reports references in a pipeline that lead nowhere, as far as the pipeline alone can
--   tell.
-- Guarantees: A node may read the nodes upstream of it and the declared inputs; exports may read
--   any node. Other names may be steps or run context, which registering a workflow checks. While
--   there is a cycle, the order of nodes is not checked.
-- Called by: _pipeline_problems.

begin;

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

commit;
