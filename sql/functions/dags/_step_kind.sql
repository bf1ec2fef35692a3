-- Deploy qwf:functions/dags/_step_kind
-- Purpose: Returns the kind of a step. A step with a task or a command is a node, and need not say
--   so.
-- Guarantees: Null for a step that does not say what it is. Never raises.
-- Called by: _compile_step, _drawn_steps, _without_bad_keys, _workflow_problems.

begin;

create function _qwf.step_kind(p_step jsonb) returns text
language sql immutable
as $$
  select coalesce(p_step ->> 'kind', case when p_step ?| array['node', 'command'] then 'node' end)
$$;

commit;
