-- Deploy qwf:functions/definitions/_question_problems
-- Purpose: Reports what is wrong with an input step, which asks a person or waits for a signal.
-- Guarantees: The keys of the known widgets are fixed; any other widget may have its own keys, of
--   any type. If nothing else is wrong, the default is checked as an answer would be: null always
--   passes, and if only a run knows the options, only the schema is checked.
-- Called by: _step_problems.

begin;

create function _qwf.question_problems(p_step jsonb, p_path text)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys constant jsonb := _qwf.definition_keys();
  v_common constant jsonb := (v_keys -> 'step') || (v_keys -> 'input step');
  v_widgets constant jsonb := v_keys -> 'widgets';
  v_widget_keys jsonb := v_widgets -> (p_step ->> 'widget');
  v_problems _qwf.problem[];
  -- With a reference in them, only a run knows the options.
  v_offered jsonb := jsonb_build_array(p_step -> 'options', p_step -> 'source');
begin
  if v_widget_keys is null and p_step ? 'widget' then  -- a custom widget may have any other key
    v_widget_keys := v_widgets -> 'choose_one' || (v_widgets -> 'file');
    select v_widget_keys || coalesce(jsonb_object_agg(k, 'any'), '{}')
    into v_widget_keys
    from jsonb_object_keys(p_step - array['inputs', 'pipeline']) k
    where not (v_common || v_widget_keys) ? k and not starts_with(k, '$');
  end if;
  v_problems := array(
    select p from _qwf.key_problems(p_step, v_common || coalesce(v_widget_keys, '{}'),
      '{id}', p_path) p
    union all
    select p
    from jsonb_each(p_step - array[
      'id', 'kind', 'depends_on', 'skip_if', 'delay', 'schema', 'default']) m
    cross join lateral _qwf.expression_problems(m.value, p_path || '.' || m.key) p
    union all
    select p
    from _qwf.definition_schema_problems(p_step -> 'schema', p_path || '.schema') p
    where p_step ? 'schema'
    union all
    select (p_path || rule.path, rule.problem, rule.hint)::_qwf.problem
    from _qwf.question_rules(p_step) rule
    union all
    select (p_path || shown.path, shown.problem, shown.hint)::_qwf.problem
    from _qwf.shown_problems(p_step) shown);
  return query
    select * from unnest(v_problems)
    union all
    select p_path || regexp_replace(p.path, '^value', '.default'), p.problem, p.hint
    from _qwf.answer_problems(
      case when v_offered::text ~ '"[$]' then p_step - array['widget', 'options'] else p_step end,
      p_step -> 'default') p
    where v_problems = '{}' and p_step -> 'default' <> 'null';
end $$;

commit;
