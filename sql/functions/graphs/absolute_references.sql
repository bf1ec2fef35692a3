-- References by name rewritten as paths that begin at the run.

-- Makes all references in a value absolute: each path then starts with a node or the run
-- context. p_names says what the first segment of a path stands for; a name that it lacks is run
-- context. Never raises. A malformed reference stays as it is, because the checks report it.
create function _qwf.with_absolute_references(p_value jsonb, p_names jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  elsif jsonb_typeof(p_value) = 'array' then
    return (select jsonb_agg(_qwf.with_absolute_references(e.value, p_names) order by e.place)
            from jsonb_array_elements(p_value) with ordinality as e (value, place));
  elsif jsonb_typeof(p_value) <> 'object' or p_value ? '$value' then
    return p_value;
  elsif p_value ? '$from' then
    return _qwf.absolute_reference(p_value, p_names);
  end if;
  return (select jsonb_object_agg(m.key, _qwf.with_absolute_references(m.value, p_names))
          from jsonb_each(p_value) m);
end $$;

-- Makes the path of one reference absolute. The name of a step stands for its exports or, if it
-- has none, for the outputs of its leaves. pipeline.x is replaced by what the step gives for x.
-- If the step does not give a declared input, the result is the reference's $default, or else
-- null. run stands for the run itself, unless a step or node of an older definition has that id.
create function _qwf.absolute_reference(p_expression jsonb, p_names jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_path text[] := _qwf.segments(p_expression -> '$from');
  v_name jsonb := p_names -> v_path[1];
  v_rest text[] := v_path[2:];
  v_others jsonb := coalesce(_qwf.with_absolute_references(p_expression - '$from', p_names), '{}');
begin
  if v_path is null or v_name ->> 'kind' = 'unknown' then
    return p_expression;
  elsif v_name ->> 'kind' = 'pipeline' then
    if cardinality(v_rest) = 0 then
      return _qwf.substitute(v_name -> 'inputs', '{}', v_others);
    elsif v_name -> 'inputs' ? v_rest[1] then
      return _qwf.substitute(v_name -> 'inputs' -> v_rest[1], v_rest[2:], v_others);
    end if;
    return _qwf.substitute(coalesce(v_others -> '$default', 'null'), '{}', v_others - '$default');
  elsif v_name ? 'exports' and v_rest[1] is distinct from 'files' then
    if cardinality(v_rest) = 0 then
      return _qwf.substitute(v_name -> 'exports', '{}', v_others);
    end if;
    return _qwf.substitute(
      coalesce(v_name -> 'exports' -> v_rest[1], 'null'), v_rest[2:], v_others);
  end if;
  return v_others || jsonb_build_object('$from', case
    when v_name is null and v_path[1] = 'run' then to_jsonb(array['$run'] || v_rest)
    when v_name is null then to_jsonb(array['$context'] || v_path)
    when v_name ->> 'kind' = 'element' then to_jsonb(array['$' || v_path[1]] || v_rest)
    when v_rest[1] = 'files' then to_jsonb(array['$files', v_name ->> 'id'] || v_rest[2:])
    when jsonb_array_length(v_name -> 'leaves') = 1 then (v_name -> 'leaves') || to_jsonb(v_rest)
    else jsonb_build_array(v_name -> 'leaves') || to_jsonb(v_rest)
  end);
end $$;

-- Replaces a reference to a value of the definition with that value, or with a reference into
-- it. p_base is already absolute. Literal containers are walked here. What is left for run time
-- is a reference whose path starts with an expression.
create function _qwf.substitute(p_base jsonb, p_rest text[], p_others jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_base jsonb := p_base;
  v_rest text[] := p_rest;
begin
  while cardinality(v_rest) > 0 and v_base #> v_rest[1:1] is not null
    and not exists (
      select from jsonb_object_keys(_qwf.as_object(v_base)) k where starts_with(k, '$'))
  loop
    v_base := v_base #> v_rest[1:1];
    v_rest := v_rest[2:];
  end loop;
  if _qwf.as_object(v_base) ? '$value' and v_base -> '$value' #> v_rest is not null then
    v_base := jsonb_build_object('$value', v_base -> '$value' #> v_rest);
    v_rest := '{}';
  end if;
  if cardinality(v_rest) = 0 and p_others = '{}' then
    return v_base;
  elsif jsonb_typeof(v_base -> '$from') = 'array' and _qwf.as_object(v_base) - '$from' = '{}' then
    return p_others
      || jsonb_build_object('$from', (v_base -> '$from') || to_jsonb(v_rest));
  elsif jsonb_typeof(v_base) <> 'object' then  -- a path cannot start with a string or a list
    v_base := case when v_base::text ~ '"[$]'
      then jsonb_build_object('$check', v_base, 'schema', jsonb '{}', 'input', '')
      else jsonb_build_object('$value', v_base) end;
  end if;
  return p_others || jsonb_build_object('$from', jsonb_build_array(v_base) || to_jsonb(v_rest));
end $$;

-- Returns the paths of all references in a compiled value. Each path starts with a node id, a
-- list of node ids, or a $ name such as $context, $run or $files. If a path starts with an
-- expression, the paths inside that expression are returned instead. What stands under $value is
-- data and is not searched.
create function _qwf.absolute_paths(p_value jsonb) returns setof jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null or p_value::text !~ '"[$]from"' then
    return;
  end if;
  return query
    with recursive inner_value (value) as (
      select p_value
      union all
      select child.value
      from inner_value outer_value
      cross join lateral (
        select m.value
        from jsonb_each(_qwf.as_object(outer_value.value)) m
        where not outer_value.value ? '$value'
        union all
        select e.value
        from jsonb_array_elements(_qwf.as_list(outer_value.value)) e
      ) child
      where child.value::text ~ '"[$]from"'
    )
    select v.value -> '$from'
    from inner_value v
    where jsonb_typeof(v.value) = 'object' and not v.value ? '$value'
      and jsonb_typeof(v.value -> '$from' -> 0) in ('string', 'array');
end $$;

-- Returns the nodes whose outputs a compiled value reads, the steps or nodes whose files it
-- reads, and $run if it reads its run. Returns each once. The run context and the element of a
-- map are left out, because every scope has them.
create function _qwf.nodes_read(p_value jsonb) returns table (id text, is_files boolean)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select distinct read.id, p -> 0 = '"$files"'
    from _qwf.absolute_paths(p_value) p
    cross join lateral (
      select p ->> 0 as id
      where jsonb_typeof(p -> 0) = 'string'
        and p ->> 0 not in ('$context', '$files', '$item', '$index')
      union all
      select p ->> 1 where p -> 0 = '"$files"'
      union all
      select jsonb_array_elements_text(p -> 0) where jsonb_typeof(p -> 0) = 'array') read;
end $$;

-- Reports references in a value that lead nowhere, judged by what each name in them stands for.
-- A name that stands for nothing is run context, which only a run can check. If it contains a
-- slash or is reserved, it is a problem.
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
