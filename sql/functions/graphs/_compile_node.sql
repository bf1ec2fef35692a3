-- Deploy qwf:functions/graphs/_compile_node
-- Purpose: Compiles one node of a pipeline into a row of graph_nodes, as JSON.
-- Guarantees: Inputs that need nothing from run time are resolved here, and has_refs is then false.
--   Those of a map are not, because they are resolved for each element anyway. A node that repeats
--   is a map, of which the first element is null. The node's own skip_if overrides the one of its
--   step.
-- Called by: _compile_node_step, _compile_step.

begin;

create function _qwf.compile_node(p_node jsonb, p_step jsonb, p_skip_if jsonb, p_names jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inputs jsonb := _qwf.with_absolute_references(_qwf.named_inputs(p_node -> 'inputs'), p_names);
  v_static _qwf.resolution;
begin
  if p_node ? 'command' then
    v_inputs := v_inputs
      || jsonb_build_object('command', _qwf.with_absolute_references(p_node -> 'command', p_names));
  end if;
  if v_inputs::text !~ '"[$]from": [[]' and not p_node ?| array['map', 'repeat'] then
    v_static := _qwf.resolve(v_inputs, '{}');
    v_inputs := coalesce(v_static.value, v_inputs);
  end if;
  return jsonb_build_object(
    'node_id', (p_step ->> 'id') || '/' || (p_node ->> 'id'),
    'step_id', p_step -> 'id',
    'pipeline', p_step -> 'pipeline',
    'task', case when p_node ? 'command' then '"command"'
      else coalesce(p_node -> 'node', p_node -> 'id') end,
    'queue', coalesce(p_node -> 'queue',
      case when p_node -> 'gpu' = 'true' then jsonb '"gpu"' else jsonb '"cpu"' end),
    'inputs', v_inputs,
    'has_refs', v_static.value is null and v_inputs::text ~ '"[$]',
    'skip_if', coalesce(_qwf.with_absolute_references(p_node -> 'skip_if', p_names),
      case when not p_node ? 'compensates' then p_skip_if end),
    'required_model', p_node -> 'model',
    'light', coalesce(p_node -> 'light', 'false'),
    'vram_mb', (p_node -> 'vram_mb')::int,
    'requires', coalesce(p_node -> 'requires', '{}'),
    'limit_by', p_node -> 'limit_by',
    'on_failure', coalesce(p_node -> 'on_failure', '"fail"'),
    'run_if', case when p_node ? 'compensates' then '"compensates"' else p_node -> 'run_if' end,
    'compensates', (
      select jsonb_agg((p_step ->> 'id') || '/' || c)
      from jsonb_array_elements_text(_qwf.as_list(p_node -> 'compensates')) c),
    'map', case when p_node ? 'repeat' then '[null]'
      else (_qwf.compile_map(p_node -> 'map', p_names)).value end,
    'delay', case when p_node ? 'delay' then jsonb_build_array(
      _qwf.with_absolute_references(p_node -> 'delay', p_names)) end,
    'repeat', _qwf.with_absolute_references(p_node -> 'repeat', p_names),
    'max_parallel', (p_node -> 'max_parallel')::int,
    'min_success', case jsonb_typeof(p_node -> 'min_success')
      when 'number' then (p_node -> 'min_success')::int::text
      else p_node ->> 'min_success' end,
    'stop_when_reached', p_node -> 'stop_when_reached',
    'at_most_once', p_node -> 'at_most_once',
    'options', nullif(jsonb_strip_nulls(jsonb_build_object(
      'max_attempts', (p_node #> '{retry,max_attempts}')::int,
      'max_losses', (p_node #> '{retry,max_losses}')::int,
      'backoff', p_node #> '{retry,backoff}',
      'timeout', _qwf.as_interval(p_node -> 'timeout'),
      'stall_timeout', _qwf.as_interval(p_node -> 'stall_timeout'))), '{}'));
end $$;

commit;
