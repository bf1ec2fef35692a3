-- Deploy qwf:functions/enqueue/_job_with_key
-- Purpose: The standalone job that holds a key.
-- Guarantees: Answers from the index jobs_key alone; null where nobody holds it now.
-- Called by: _insert_jobs.

begin;

create function _qwf.job_with_key(p_project text, p_task text, p_key text) returns bigint
language sql stable
as $$
  select j.id
  from qwf.jobs j
  where j.project = p_project and j.task = p_task and j.key = p_key and j.key is not null
    and (j.once or j.status in ('scheduled', 'queued', 'running', 'awaiting_input'))
$$;

commit;
