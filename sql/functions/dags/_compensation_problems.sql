-- Deploy qwf:functions/dags/_compensation_problems
-- Purpose: Reports what compensation nodes of a list of nodes or steps name that cannot be taken
--   back, and what depends on them.
-- Guarantees: p_pipelines holds the pipelines of steps, by name; one that it lacks is reported
--   elsewhere. Never raises, whatever the list holds.
-- Called by: _pipeline_problems, _workflow_problems.

begin;

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

commit;
