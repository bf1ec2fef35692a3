-- Deploy qwf:functions/_reference_problems
-- requires: schema/types
-- requires: functions/_expressions
-- requires: functions/_nearest
-- requires: functions/_segments
-- Purpose: References of a value that lead nowhere, judged by what each name in them stands for.
-- Guarantees: A name that stands for nothing is run context, which only a run can judge; with a slash in it, it is a problem.
-- Called by: _compile_step.

begin;

create function qwf._reference_problems(p_value jsonb, p_path text, p_names jsonb) returns setof qwf.problem
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select r.path, verdict.problem, verdict.hint
  from (
    select e.path, e.optional or e.expression ? '$default' as optional, s.segments, p_names -> s.segments[1] as name
    from qwf._expressions(p_value, p_path) e
    cross join lateral (select qwf._segments(e.expression -> '$from') as segments) s
    where s.segments is not null) r
  cross join lateral (
    select r.name ->> 'problem' as problem, r.name ->> 'hint' as hint
    where r.name ? 'problem'
    union all
    select format('there is no "%s"', r.segments[1]), 'a node of another step is written <step>/<node>'
    where r.name is null and r.segments[1] like '%/%'
    union all
    select format('"%s" cannot be read here', r.segments[1]), case r.segments[1]
      when 'pipeline' then 'only the nodes and outputs of a pipeline read its inputs'
      when 'files' then 'write {"$from": "<step>.files"}'
      else 'it belongs to "map", which a later version will take' end
    where r.name is null and r.segments[1] in ('pipeline', 'item', 'index', 'files')
    union all
    select format('step "%s" has no nodes', r.segments[1]), null
    where r.name -> 'leaves' = '[]' and not r.name ? 'exports'
    union all
    select format('step "%s" answers "%s"', r.segments[1], r.name ->> 'target'), 'read the target of the input step'
    where r.segments[2] <> r.name ->> 'target'
    union all
    select format('step "%s" exports no "%s"', r.segments[1], r.segments[2]),
      coalesce('did you mean ' || qwf._nearest(r.segments[2], array(select jsonb_object_keys(r.name -> 'exports'))) || '?',
        'add it to the "outputs" of the pipeline, or read <step>/<node>')
    where r.name ? 'exports' and r.segments[2] <> 'files' and not r.name -> 'exports' ? r.segments[2]
    union all
    select format('the step gives no input "%s"', r.segments[2]), 'add it to the inputs of the step'
    where r.name ->> 'kind' = 'pipeline' and not r.optional
      and not r.name -> 'inputs' ? r.segments[2] and not r.name -> 'declared' ? r.segments[2]) verdict
$$;

comment on function qwf._reference_problems(jsonb, text, jsonb) is
  'Returns one row for every reference in a value that leads nowhere, or to a step that is not upstream.';
revoke all on function qwf._reference_problems(jsonb, text, jsonb) from public;

commit;
