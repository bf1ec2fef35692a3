-- Deploy qwf:functions/definitions/_node_problems
-- Purpose: Reports what is wrong with one node of a pipeline, without looking at other nodes.
-- Guarantees: Returns one row per problem, with its JSON path.
-- Called by: _pipeline_problems.

begin;

create function _qwf.node_problems(p_node jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys constant jsonb := jsonb '{
    "id": "string", "node": "string", "command": "array", "depends_on": "array",
    "inputs": ["object", "array"], "skip_if": "any", "queue": "string", "gpu": "boolean",
    "light": "boolean", "model": ["string", "null"], "vram_mb": "integer", "requires": "object",
    "retry": "object", "timeout": "interval", "stall_timeout": "interval", "on_failure": "string",
    "run_if": "string", "limit_by": "string", "map": ["array", "object"],
    "max_parallel": "integer", "min_success": ["integer", "string"], "display_name": "string",
    "kind": "string", "outputs": ["array", "object"]}';
  v_retry constant jsonb := jsonb '{
    "max_attempts": "integer", "max_losses": "integer", "backoff": ["array", "object"]}';
begin
  return query select * from _qwf.key_problems(p_node, v_keys, '{id}', p_path);
  if jsonb_typeof(p_node -> 'retry') = 'object' then
    return query
      select * from _qwf.key_problems(p_node -> 'retry', v_retry, '{}', p_path || '.retry');
  end if;
  return query select * from _qwf.input_problems(p_node -> 'inputs', p_path || '.inputs');
  return query select * from _qwf.skip_problems(p_node -> 'skip_if', p_path || '.skip_if');
  return query select * from _qwf.expression_problems(p_node -> 'command', p_path || '.command');
  return query select * from _qwf.map_problems(p_node, p_path);
  return query
    select p_path || rule.path, rule.problem, rule.hint
    from _qwf.node_rules(p_node) rule;
end $$;

commit;
