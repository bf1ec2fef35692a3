-- Deploy qwf:functions/_item_problems
-- requires: schema/types
-- requires: functions/_items
-- requires: functions/_edges
-- requires: functions/_cycles
-- requires: functions/_nearest
-- Purpose: What is wrong with a list of nodes or steps as a graph: ids, dependencies, cycles.
-- Guarantees: p_inner maps the id of a step to the ids of its nodes, so that depends_on may say step/node; a step that is
--   not in it is taken on trust, because its pipeline is unknown and that is a problem of its own.
-- Called by: _pipeline_problems, _workflow_problems.

begin;

create function qwf._item_problems(p_list jsonb, p_path text, p_inner jsonb) returns setof qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('%s[%s]', p_path, e.place - 1), 'must be an object', null::text
  from jsonb_array_elements(p_list) with ordinality as e (item, place)
  where jsonb_typeof(e.item) <> 'object'
  union all
  select format('%s[%s].id', p_path, i.place - 1), verdict.problem, verdict.hint
  from (select place, id, item -> 'id' as given, min(place) over (partition by id) as first from qwf._items(p_list)) i
  cross join lateral (
    select format('"%s" is reserved', i.id) as problem, 'choose another id' as hint
    where i.id in ('pipeline', 'item', 'index', 'files')
    union all
    select format('"%s" is not an id', i.id), 'use lower case letters, digits and _, a letter first, at most 63'
    where jsonb_typeof(i.given) = 'string' and i.id !~ '^[a-z][a-z0-9_]{0,62}$'
    union all
    select format('"%s" is the id of %s[%s] already', i.id, p_path, i.first - 1), 'choose another id'
    where i.place > i.first) verdict
  union all
  select format('%s[%s].depends_on[%s]', p_path, i.place - 1, d.place - 1),
    case jsonb_typeof(d.entry) when 'string' then format('nothing here has the id "%s"', d.entry #>> '{}')
      else 'must be a string' end,
    'did you mean ' || qwf._nearest(d.entry #>> '{}', array(select id from qwf._items(p_list))) || '?'
  from qwf._items(p_list) i
  cross join lateral jsonb_array_elements(case jsonb_typeof(i.item -> 'depends_on')
    when 'array' then i.item -> 'depends_on' else '[]' end) with ordinality as d (entry, place)
  where jsonb_typeof(d.entry) <> 'string'
    or split_part(d.entry #>> '{}', '/', 1) not in (select known.id from qwf._items(p_list) known where known.id is not null)
    or (d.entry #>> '{}' like '%/%'
      and not coalesce(p_inner -> split_part(d.entry #>> '{}', '/', 1) ? substr(d.entry #>> '{}', 1 + strpos(d.entry #>> '{}', '/')),
        p_inner is not null))
  union all
  select p_path,
    'cycle: ' || (
      select string_agg(i.id, ' -> ' order by c.place)
      from unnest(cycle) with ordinality as c (vertex, place)
      join qwf._items(p_list) i on i.place = c.vertex),
    'remove one of these dependencies'
  from (select array_agg(e.tail) as tails, array_agg(e.head) as heads from qwf._edges(p_list) e) graph
  cross join lateral qwf._cycles(jsonb_array_length(p_list), graph.tails, graph.heads) cycle
$$;

comment on function qwf._item_problems(jsonb, text, jsonb) is
  'Returns one row for every bad id, dependency on nothing and cycle in a list of nodes or steps.';
revoke all on function qwf._item_problems(jsonb, text, jsonb) from public;

commit;
