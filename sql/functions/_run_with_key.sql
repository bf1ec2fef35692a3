-- Deploy qwf:functions/_run_with_key
-- Purpose: The run that holds a key.
-- Guarantees: Answers from the index runs_key alone; null where nobody holds it now.
-- Called by: enqueue_run.

begin;

create function qwf._run_with_key(p_project text, p_workflow text, p_key text) returns bigint
language sql stable
as $$
  select r.id
  from qwf.runs r
  where r.project = p_project and r.workflow = p_workflow and r.key = p_key and r.key is not null
    and (r.once or r.status in ('queued', 'running', 'awaiting_input'))
$$;
revoke all on function qwf._run_with_key from public;

commit;
