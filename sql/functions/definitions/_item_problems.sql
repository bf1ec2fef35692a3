-- Deploy qwf:functions/definitions/_item_problems
-- Purpose: Reports what is wrong with a list of nodes or steps as a graph: ids, dependencies and
--   cycles.
-- Guarantees: p_step_nodes maps the id of each step to the ids of its nodes, so that depends_on may
--   name step/node. The nodes of a step that it lacks are not checked, because the pipeline is
--   unknown, which is reported elsewhere.
-- Called by: _pipeline_problems, _workflow_problems.

begin;

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
    select format('%s[%s]', p_path, e.place - 1), 'must be an object', null::text
    from jsonb_array_elements(p_list) with ordinality as e (item, place)
    where jsonb_typeof(e.item) <> 'object'
    union all
    select format('%s[%s].id', p_path, i.place - 1), verdict.problem, verdict.hint
    from (
      select l.place, l.id, l.item -> 'id' as given,
        min(l.place) over (partition by l.id) as first_place
      from _qwf.items(p_list) l) i
    cross join lateral (
      select format('"%s" is reserved', i.id) as problem, 'choose another id' as hint
      where i.id in ('pipeline', 'item', 'index', 'files', 'run')
      union all
      select format('"%s" is not a valid id', i.id),
        'use 1 to 63 lower case letters, digits and _, starting with a letter'
      where jsonb_typeof(i.given) = 'string' and i.id !~ '^[a-z][a-z0-9_]{0,62}$'
      union all
      select format('"%s" is already the id of %s[%s]', i.id, p_path, i.first_place - 1),
        'choose another id'
      where i.place > i.first_place and i.id is not null) verdict
    union all
    select format('%s[%s].depends_on[%s]', p_path, i.place - 1, d.place - 1),
      case jsonb_typeof(d.entry) when 'string' then format('there is no "%s"', d.entry #>> '{}')
        else 'must be a string' end,
      _qwf.did_you_mean(d.entry #>> '{}', v_ids)
    from _qwf.items(p_list) i
    cross join lateral jsonb_array_elements(_qwf.as_list(i.item -> 'depends_on'))
      with ordinality as d (entry, place)
    cross join lateral (select string_to_array(d.entry #>> '{}', '/') as ids) named
    where jsonb_typeof(d.entry) <> 'string'
      or not coalesce(named.ids[1] = any (v_ids), false)
      or cardinality(named.ids) > 2
      or cardinality(named.ids) = 2
        and not coalesce(p_step_nodes -> named.ids[1] ? named.ids[2], p_step_nodes is not null);
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

commit;
