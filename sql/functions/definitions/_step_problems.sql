-- Deploy qwf:functions/definitions/_step_problems
-- Purpose: Reports what is wrong with one step of a workflow, without looking at other steps.
-- Guarantees: Returns one row per problem, with its JSON path.
-- Called by: _workflow_problems.

begin;

create function _qwf.step_problems(p_step jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys constant jsonb := _qwf.definition_keys();
begin
  if p_step ->> 'kind' = 'input' then
    return query select * from _qwf.question_problems(p_step, p_path);
  elsif _qwf.step_kind(p_step) in ('node', 'workflow') then
    return query select * from _qwf.node_problems(p_step, p_path);
    return;
  else
    return query select * from _qwf.key_problems(p_step,
      (v_keys -> 'step') || (v_keys -> 'pipeline step'),
      array['id'] || case when p_step ->> 'kind' = 'pipeline' then 'pipeline' end, p_path);
    return query select * from _qwf.input_problems(p_step -> 'inputs', p_path || '.inputs');
  end if;
  if not p_step ? 'kind' then
    return next row(p_path || '.kind', 'is missing',
      'write "node", "pipeline", "workflow" or "input"; a step with "node" or "command" '
      'needs none'
    )::_qwf.problem;
  elsif p_step -> 'kind' not in ('"pipeline"', '"input"') then
    return next row(p_path || '.kind', 'must be "node", "pipeline", "workflow" or "input"',
      case when p_step ?| array['node', 'command']
        then 'in a step it says what the step is: leave it out for a node' end)::_qwf.problem;
  end if;
  return query select * from _qwf.delay_problems(p_step -> 'delay', p_path || '.delay');
  return query select * from _qwf.skip_problems(p_step -> 'skip_if', p_path || '.skip_if');
end $$;

commit;
