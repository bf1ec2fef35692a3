-- Deploy qwf:functions/graphs/_reference_problems
-- Purpose: Reports references in a value that lead nowhere, judged by what each name in them stands
--   for.
-- Guarantees: A name that stands for nothing is run context, which only a run can check. If it
--   contains a slash or is reserved, it is a problem.
-- Called by: _compile_node_step, _compile_outputs, _compile_step.

begin;

create function _qwf.reference_problems(p_value jsonb, p_path text, p_names jsonb)
returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select r.path, verdict.problem, verdict.hint
    from (
      select s.path, s.optional, s.expression, s.segments, s.segments[1] as head,
        p_names -> s.segments[1] as name
      from (
        select e.path, e.expression, e.optional or e.expression ? '$default' as optional,
          _qwf.segments(e.expression -> '$from') as segments
        from _qwf.expressions(p_value, p_path) e
        offset 0) s  -- offset: split each path only once
      where s.segments is not null) r
    cross join lateral (
      select r.name ->> 'problem' as problem, r.name ->> 'hint' as hint
      where r.name ? 'problem'
      union all
      select format('there is no "%s"', r.head), 'a node of another step is written <step>/<node>'
      where r.name is null and r.head like '%/%'
      union all
      select format('"%s" cannot be read here', r.head), case r.head
        when 'pipeline' then 'only the nodes and outputs of a pipeline can read its inputs'
        when 'files' then 'write {"$from": "<step>.files"}'
        else 'only inputs beside "map" or "repeat" can read it' end
      where r.name is null and r.head in ('pipeline', 'item', 'index', 'files')
      union all
      select format('a run has no "%s"', r.segments[2]), 'it has error, failed, id and status'
      where r.name is null and r.head = 'run'
        and r.segments[2] not in ('error', 'failed', 'id', 'status')
      union all
      select format('step "%s" has no nodes', r.head), null
      where r.name -> 'leaves' = '[]' and not r.name ? 'exports'
      union all
      select format('step "%s" has only "%s"', r.head, r.name ->> 'target'),
        'the answer to an input step is read by its target'
      where r.segments[2] <> r.name ->> 'target'
      union all
      select format('the answer to step "%s" is a whole option, never a text', r.head),
        format('compare its value: {"$from": "%s.%s.value", …}', r.head, r.segments[2])
      where r.name -> 'is_option' = 'true' and cardinality(r.segments) = 2
        and 'string' in (
          jsonb_typeof(r.expression -> '$eq'), jsonb_typeof(r.expression -> '$ne'))
      union all
      select format('step "%s" does not export "%s"', r.head, r.segments[2]),
        coalesce(
          _qwf.did_you_mean(r.segments[2], array(select jsonb_object_keys(r.name -> 'exports'))),
          'add it to the "outputs" of the pipeline, or read <step>/<node>')
      where r.segments[2] <> 'files' and not r.name -> 'exports' ? r.segments[2]
      union all
      select format('the step does not give the input "%s"', r.segments[2]),
        'add it to the inputs of the step'
      where r.name ->> 'kind' = 'pipeline' and not r.optional
        and not r.name -> 'inputs' ? r.segments[2] and not r.name -> 'declared' ? r.segments[2]
    ) verdict;
end $$;

commit;
