-- Deploy qwf:functions/definitions/_question_problems
-- Purpose: Reports what is wrong with an input step, which asks a person a question.
-- Guarantees: The keys of the known widgets are fixed; any other widget may have its own keys, of
--   any type. If nothing else is wrong, the default is checked as an answer would be: null always
--   passes, and if only a run knows the options, only the schema is checked.
-- Called by: _step_problems.

begin;

create function _qwf.question_problems(p_step jsonb, p_common jsonb, p_path text)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_common constant jsonb := p_common || jsonb '{
    "widget": "string", "prompt": ["string", "object"], "target": "string", "source": "any",
    "schema": "object", "expires": "interval", "default": "any"}';
  v_choice constant jsonb := jsonb '{"options": ["array", "object"], "multiple": "boolean"}';
  v_file constant jsonb := jsonb '{
    "accept": ["string", "array"], "multiple": "boolean", "library": "any"}';
  v_widgets constant jsonb := jsonb_build_object(
    'choose_one', v_choice,
    'turnout', v_choice,
    'confirm', jsonb '{}',
    'text', jsonb '{"min_length": "integer", "max_length": "integer", "pattern": "string",
      "multiline": "boolean"}',
    'number', jsonb '{"min": "number", "max": "number", "step": "number", "integer": "boolean",
      "unit": "string"}',
    'file', v_file,
    'json', jsonb '{}');
  v_widget_keys jsonb := v_widgets -> (p_step ->> 'widget');
  v_problems _qwf.problem[];
  -- With a reference in them, only a run knows the options.
  v_offered jsonb := jsonb_build_array(p_step -> 'options', p_step -> 'source');
begin
  if v_widget_keys is null then  -- a custom widget may have any other key
    select v_choice || v_file || coalesce(jsonb_object_agg(k, 'any'), '{}')
    into v_widget_keys
    from jsonb_object_keys(p_step - array['inputs', 'pipeline']) k
    where not (v_common || v_choice || v_file) ? k and not starts_with(k, '$');
  end if;
  v_problems := array(
    select p from _qwf.key_problems(p_step, v_common || v_widget_keys, '{id,widget}', p_path) p
    union all
    select p
    from jsonb_each(p_step - array['id', 'kind', 'depends_on', 'skip_if', 'schema', 'default']) m
    cross join lateral _qwf.expression_problems(m.value, p_path || '.' || m.key) p
    union all
    select p
    from _qwf.definition_schema_problems(p_step -> 'schema', p_path || '.schema') p
    where p_step ? 'schema'
    union all
    select (p_path || rule.path, rule.problem, rule.hint)::_qwf.problem
    from _qwf.question_rules(p_step) rule);
  return query
    select * from unnest(v_problems)
    union all
    select p_path || regexp_replace(p.path, '^value', '.default'), p.problem, p.hint
    from _qwf.answer_problems(
      case when v_offered::text ~ '"\$' then p_step - 'widget' else p_step end,
      p_step -> 'default') p
    where v_problems = '{}' and p_step -> 'default' <> 'null';
end $$;

commit;
