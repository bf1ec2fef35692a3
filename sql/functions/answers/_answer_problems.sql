-- Deploy qwf:functions/answers/_answer_problems
-- Purpose: Returns what is wrong with an answer, by the widget of the question.
-- Guarantees: Never raises. An unknown widget takes any value. A list of options and a schema
--   apply to every widget. An option that is an object may be chosen whole, or by its value or
--   id; a question without options takes null.
-- Called by: _checked, _serve_signal, _signal_invariants, _take_kept_signal, answer_job, why_not.

begin;

create function _qwf.answer_problems(p_spec jsonb, p_value jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offered jsonb := _qwf.offered(p_spec);
  v_widget text := case when v_offered is null then p_spec ->> 'widget' else 'choose_one' end;
  v_type text := jsonb_typeof(p_value);
  v_schema jsonb := coalesce(p_spec -> 'schema', '{}');
  v_choices jsonb;
  v_hint text;
begin
  case v_widget
    when 'choose_one' then
      if p_spec ->> 'widget' = 'on_failure' and v_offered ? 'has_run'
        and jsonb_typeof(p_value -> 'has_run') = 'object'
        and p_value = jsonb_build_object('has_run', p_value -> 'has_run') then return; end if;
      select coalesce(jsonb_agg(c.choice), '[null]')
      into v_choices
      from jsonb_array_elements(v_offered) o
      cross join lateral (values (o.value), (o.value -> 'value'), (o.value -> 'id')) c (choice)
      where c.choice is not null;
      v_hint := case when v_offered = '[]'
        then 'there is nothing to choose from: answer '
          || case when (p_spec -> 'multiple') = 'true' then '[]' else 'null' end
        else left('options: ' || v_choices::text, 500) end;
      if (p_spec -> 'multiple') = 'true' then
        v_schema := v_schema || jsonb_build_object('type', 'array');
        return query
        select f.* from _qwf.first_problems(array(
          select (format('value[%s]', e.n - 1), 'is not one of the options', v_hint)::_qwf.problem
          from jsonb_array_elements(case when v_type = 'array' then p_value else '[]' end)
            with ordinality e (value, n)
          where e.value not in (select c.value from jsonb_array_elements(v_choices) c)
          limit 21), 'value') f;
      elsif p_value not in (select c.value from jsonb_array_elements(v_choices) c) then
        return next ('value', 'is not one of the options', v_hint)::_qwf.problem;
      end if;
    when 'confirm' then
      v_schema := v_schema || '{"type": "boolean"}';
    when 'text' then
      v_schema := v_schema || '{"type": "string"}' || jsonb_strip_nulls(jsonb_build_object(
        'minLength', p_spec -> 'min_length', 'maxLength', p_spec -> 'max_length',
        'pattern', p_spec -> 'pattern'));
    when 'number' then
      v_schema := v_schema || jsonb_build_object('type',
        case when (p_spec -> 'integer') = 'true' then 'integer' else 'number' end)
        || jsonb_strip_nulls(jsonb_build_object(
        'minimum', p_spec -> 'min', 'maximum', p_spec -> 'max'));
      -- Exact, as the numbers are decimal; one of more than 1000 digits is on no step.
      if (case when v_type <> 'number' or not p_spec ? 'step' then false
        when abs(p_value::numeric) >= 1e1000 then true
        else (p_value::numeric - coalesce((p_spec -> 'min')::numeric, 0))
          % (p_spec -> 'step')::numeric <> 0 end)
      then
        return next ('value', format('must be %s plus a multiple of %s',
          coalesce(p_spec ->> 'min', '0'), p_spec ->> 'step'), null)::_qwf.problem;
      end if;
    when 'file' then
      v_schema := v_schema || case when (p_spec -> 'multiple') = 'true'
        then '{"type": "array", "items": {"type": "string", "minLength": 1}}'::jsonb
        else '{"type": "string", "minLength": 1}' end;
    else
      null;
  end case;
  return query select * from _qwf.schema_problems(p_value, v_schema, 'value');
end $$;

commit;
