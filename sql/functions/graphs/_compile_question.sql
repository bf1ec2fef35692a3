-- Deploy qwf:functions/graphs/_compile_question
-- Purpose: Compiles one input step into a row of graph_nodes, as JSON.
-- Guarantees: The row has no queue, because asking a person needs no worker. The schema and the
--   default of the answer are data and are not searched for references. expires becomes interval
--   text.
-- Called by: _compile_step.

begin;

create function _qwf.compile_question(p_step jsonb, p_names jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_step - array['id', 'kind', 'depends_on', 'skip_if', 'delay',
    'display_name'];
begin
  select v_spec || coalesce(jsonb_object_agg(m.key, jsonb_build_object('$value', m.value)), '{}')
  into v_spec
  from jsonb_each(v_spec) m
  where m.key in ('schema', 'default');
  if p_step ? 'expires' then
    v_spec := v_spec || jsonb_build_object('expires', _qwf.as_interval(p_step -> 'expires'));
  end if;
  return jsonb_build_object(
    'node_id', p_step -> 'id',
    'step_id', p_step -> 'id',
    'task', 'input',
    'inputs', jsonb '{}',
    'has_refs', false,
    'light', false,
    'on_failure', 'fail',
    'requires', jsonb '{}',
    'delay', case when p_step ? 'delay' then jsonb_build_array(
      _qwf.with_absolute_references(p_step -> 'delay', p_names)) end,
    'skip_if', _qwf.with_absolute_references(p_step -> 'skip_if', p_names),
    'input_spec', _qwf.with_absolute_references(v_spec, p_names));
end $$;

commit;
