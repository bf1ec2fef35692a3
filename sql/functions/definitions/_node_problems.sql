-- Deploy qwf:functions/definitions/_node_problems
-- Purpose: Reports what is wrong with one node of a pipeline, without looking at other nodes.
-- Guarantees: Returns one row per problem, with its JSON path. A step that runs a workflow has the
--   rules of a node, and fewer keys.
-- Called by: _pipeline_problems, _step_problems, _without_bad_keys.

begin;

create function _qwf.node_problems(p_node jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys constant jsonb := _qwf.definition_keys();
  v_retry constant jsonb := _qwf.as_object(p_node -> 'retry');
  v_in_pipeline constant boolean := p_path not like 'steps%';
  v_runs constant boolean := case when v_in_pipeline then p_node ? 'workflow'
    else p_node -> 'kind' = '"workflow"' end;
begin
  return query select * from _qwf.key_problems(p_node, case
    when v_runs then (v_keys -> 'step') || (v_keys -> 'workflow step') || case when v_in_pipeline
      then '{"outputs": ["array", "object"]}' else '{}' end::jsonb
    else v_keys -> 'node' end,
    case when v_runs then '{id,workflow}' else '{id}' end::text[], p_path);
  return query
    select * from _qwf.key_problems(v_retry, v_keys -> 'retry', '{}', p_path || '.retry');
  return query
    select * from _qwf.key_problems(
      _qwf.as_object(v_retry -> 'backoff'), v_keys -> 'backoff', '{}', p_path || '.retry.backoff');
  return query select * from _qwf.input_problems(p_node -> 'inputs', p_path || '.inputs');
  return query select * from _qwf.skip_problems(p_node -> 'skip_if', p_path || '.skip_if');
  return query select * from _qwf.delay_problems(p_node -> 'delay', p_path || '.delay');
  return query select * from _qwf.expression_problems(p_node -> 'command', p_path || '.command');
  return query select * from _qwf.map_problems(p_node, p_path);
  return query select * from _qwf.repeat_problems(p_node, p_path);
  return query
    select p_path || rule.path, rule.problem, rule.hint
    from _qwf.node_rules(p_node) rule;
end $$;

commit;
