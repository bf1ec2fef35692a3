-- Deploy qwf:functions/enqueue/_run_with_key
-- Purpose: The run that holds a key.
-- Guarantees: Answers from the index runs_key alone; null where nobody holds it now.
-- Called by: enqueue_run.

begin;

create function _qwf.run_with_key(p_project text, p_workflow text, p_key text) returns bigint
language sql stable
as $$
  select r.id
  from qwf.runs r
  where r.project = p_project and r.workflow = p_workflow and r.key = p_key and r.key is not null
    and (r.once or r.status in ('queued', 'running', 'awaiting_input'))
$$;

commit;
