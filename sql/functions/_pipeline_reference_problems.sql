-- Deploy qwf:functions/_pipeline_reference_problems
-- requires: schema/types
-- requires: functions/_ancestors
-- requires: functions/_edges
-- requires: functions/_expressions
-- requires: functions/_items
-- requires: functions/_named_inputs
-- requires: functions/_nearest
-- requires: functions/_segments
-- requires: functions/_topological
-- Purpose: References of a pipeline that lead nowhere, as far as the pipeline alone can tell.
-- Guarantees: A node reads its siblings upstream and the declared inputs; exports read any node. Other names may be steps
--   or run context, which registering a workflow looks at. While there is a cycle, order is not judged.
-- Called by: _pipeline_problems.

begin;

create function qwf._pipeline_reference_problems(p_definition jsonb) returns setof qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  with graph as (
    select array_agg(e.tail) as tails, array_agg(e.head) as heads, array_agg(e.whole) as wholes
    from qwf._edges(p_definition -> 'nodes') e
  ), ordered as (
    select tails, heads, wholes, qwf._topological(jsonb_array_length(p_definition -> 'nodes'), tails, heads) as places from graph
  ), upstream as materialized (
    select case cardinality(places) when jsonb_array_length(p_definition -> 'nodes')
      then qwf._ancestors(cardinality(places), places, tails, heads, wholes) end as reach
    from ordered
  ), node as (
    select i.id, min(i.place) as place from qwf._items(p_definition -> 'nodes') i group by i.id
  ), reference as materialized (
    select i.place as reader, e.path, qwf._segments(e.expression -> '$from') as segments
    from qwf._items(p_definition -> 'nodes') i
    cross join lateral qwf._expressions(
      (i.item - 'inputs') || jsonb_build_object('inputs', qwf._named_inputs(i.item -> 'inputs')),
      format('nodes[%s]', i.place - 1)) e
    union all
    select null, e.path, qwf._segments(e.expression -> '$from')
    from qwf._expressions(p_definition -> 'outputs', 'outputs') e
  )
  select r.path, verdict.problem, verdict.hint
  from reference r
  left join node on node.id = r.segments[1]
  cross join lateral (
    select format('the pipeline declares no input "%s"', r.segments[2]) as problem,
      'did you mean ' || qwf._nearest(r.segments[2],
        array(select jsonb_object_keys(p_definition #> '{inputs,properties}'))) || '?' as hint
    where r.segments[1] = 'pipeline' and r.segments[2] not like '\_implicit(%' and r.segments[2] not like '\_siblings(%'
      and jsonb_typeof(p_definition #> '{inputs,properties}') = 'object'
      and not p_definition #> '{inputs,properties}' ? r.segments[2]
      and p_definition #> '{inputs,additionalProperties}' is distinct from 'true'
    union all
    select format('"%s" is not yet supported', r.segments[1]), 'it belongs to "map", which a later version will take'
    where r.segments[1] in ('item', 'index')
    union all
    select '"files" stands behind a step or node', 'write {"$from": "<node>.files"}'
    where r.segments[1] = 'files'
    union all
    select 'refers to itself', null
    where node.place = r.reader
    union all
    select format('node "%s" is not upstream: add "%s" to depends_on', node.id, node.id),
      'a reference makes no dependency; add the node to depends_on'
    where node.place <> r.reader
      and (select get_bit(u.reach[r.reader], node.place - 1) = 0 from upstream u)
    union all
    select format('there is no node "%s" in this pipeline', r.segments[1]),
      'did you mean ' || qwf._nearest(r.segments[1], array(select n.id from node n)) || '?'
    where r.reader is null and node.place is null and r.segments[1] not in ('pipeline', 'item', 'index', 'files')
  ) verdict
$$;

comment on function qwf._pipeline_reference_problems(jsonb) is
  'Returns one row for every reference of a pipeline to a node that is not upstream, or to nothing.';
revoke all on function qwf._pipeline_reference_problems(jsonb) from public;

commit;
