-- Deploy qwf:functions/graphs/_step_inputs
-- Purpose: Works out what a step gives for the inputs of its pipeline, and checks it against the
--   schema as early as possible.
-- Guarantees: A literal is checked now. A value that depends only on the run context is listed
--   under checks, for enqueue_run. A value is wrapped in a $check, and so checked when it is
--   resolved, if it depends on other nodes, belongs to a step with a skip_if, or takes defaults
--   from inside the schema. A value without a schema, or with an empty one, is not wrapped.
-- Called by: _compile_run, _compile_step.

begin;

create function _qwf.step_inputs(p_step jsonb, p_path text, p_schema jsonb, p_names jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given jsonb := _qwf.named_inputs(p_step -> 'inputs');
  v_inputs jsonb := jsonb '{}';
  v_checks jsonb := jsonb '[]';
  v_problems _qwf.problem[] := array(
    select p from _qwf.missing_inputs(v_given, p_schema, p_path,
      case when p_step ? 'workflow' then 'workflow' else 'pipeline' end) p);
  v_name text;
  v_value jsonb;
  v_schema jsonb;
  v_paths jsonb[];
  v_input text;
  v_checked jsonb;  -- v_value under a $check: resolving it checks it against the schema
  v_static _qwf.resolution;
begin
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

commit;
