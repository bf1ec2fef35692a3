-- Inputs that a step passes to the workflow or pipeline it runs.

-- Works out what a step gives for the inputs of its pipeline, and checks it against the schema
-- as early as possible. A literal is checked now. A value that depends only on the run context
-- is listed under checks, for enqueue_run. A value is wrapped in a $check, and so checked when
-- it is resolved, if it depends on other nodes, belongs to a step with a skip_if, or takes
-- defaults from inside the schema. A value without a schema, or with an empty one, is not
-- wrapped; a pipeline without a schema accepts any input.
create function _qwf.step_inputs(p_step jsonb, p_path text, p_schema jsonb, p_names jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given jsonb := _qwf.named_inputs(p_step -> 'inputs');
  v_inputs jsonb := jsonb '{}';
  v_checks jsonb := jsonb '[]';
  v_problems _qwf.problem[];
  v_name text;
  v_value jsonb;
  v_schema jsonb;
  v_paths jsonb[];
  v_input text;
  v_checked jsonb;  -- v_value under a $check: resolving it checks it against the schema
  v_static _qwf.resolution;
begin
  v_problems := array(
    select (format('%s.inputs.%s', p_path, r.name), case when p_step ? 'workflow'
        then 'is missing: the workflow requires it'
        else 'is missing: the pipeline requires it' end, null)::_qwf.problem
    from jsonb_array_elements_text(p_schema -> 'required') r (name)
    where not v_given ? r.name
      and not coalesce(p_schema -> 'properties' -> r.name ? 'default', false)
    union all
    select (format('%s.inputs.%s', p_path, g.name), case when p_step ? 'workflow'
        then 'the workflow declares no such input'
        else 'the pipeline declares no such input' end,
      _qwf.did_you_mean(g.name, array(select jsonb_object_keys(p_schema -> 'properties')))
      )::_qwf.problem
    from jsonb_object_keys(v_given) g (name)
    where p_schema ? 'properties' and not p_schema -> 'properties' ? g.name
      and p_schema -> 'additionalProperties' is distinct from 'true');
  for v_name, v_value, v_schema in
    select m.key, m.value, p_schema -> 'properties' -> m.key from jsonb_each(v_given) m
    union all
    select d.key, jsonb_build_object('$value', d.value -> 'default'), d.value
    from jsonb_each(p_schema -> 'properties') d
    where d.value ? 'default' and not v_given ? d.key
  loop
    v_value := _qwf.with_absolute_references(v_value, p_names);
    v_input := (p_step ->> 'id') || '.' || v_name;
    v_checked := case when v_schema <> '{}'
      then jsonb_build_object('$check', v_value, 'schema', v_schema, 'input', v_input)
      else v_value end;
    v_paths := array(select _qwf.absolute_paths(v_value));
    if v_paths = '{}' then
      v_static := _qwf.resolve(v_value, '{}');
      v_static.value := _qwf.with_defaults(v_static.value, v_schema);
      v_problems := v_problems || array(
        select (format('%s.inputs.%s', p_path, v_name), v_static.error, null)::_qwf.problem
        where v_static.error not like 'malformed%'  -- which _checked reports
        union all
        select p
        from _qwf.schema_problems(
          v_static.value, v_schema, format('%s.inputs.%s', p_path, v_name)) p);
      v_value := case when v_static.value::text ~ '"[$]'
        then jsonb_build_object('$value', v_static.value)
        else coalesce(v_static.value, v_value) end;
    elsif p_step ? 'skip_if'
      or exists (select from unnest(v_paths) p where p ->> 0 <> '$context')
    then
      v_value := v_checked;
    else
      v_checks := v_checks || jsonb_build_object('name', v_name,
        'path', format('%s.inputs.%s', p_step ->> 'id', v_name), 'value', v_checked);
      if v_schema::text ~ '"default"' then  -- else the check at enqueue is enough
        v_value := v_checked;
      end if;
    end if;
    v_inputs := v_inputs || jsonb_build_object(v_name, v_value);
  end loop;
  return jsonb_build_object(
    'inputs', v_inputs, 'checks', v_checks, 'problems', to_jsonb(v_problems));
end $$;

-- Returns inputs as an object, by name, whichever form they were written in. [{"name": "boxes",
-- "from": "detect.boxes"}] becomes {"boxes": {"$from": "detect.boxes"}}. Invalid entries are
-- left out, because _misfits reports them.
create function _qwf.named_inputs(p_inputs jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_inputs)
    when 'object' then p_inputs
    when 'array' then coalesce(
      (select jsonb_object_agg(i ->> 'name', jsonb_build_object('$from', i -> 'from'))
       from jsonb_array_elements(p_inputs) i
       where jsonb_typeof(i -> 'name') = 'string' and i ? 'from'),
      '{}')
    else '{}'
  end;
end $$;
