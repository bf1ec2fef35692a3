-- Deploy qwf:functions/definitions/_item_problems
-- Purpose: Reports what is wrong with a list of nodes or steps as a graph: ids that stand
--   twice, dependencies and cycles.
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

commit;
