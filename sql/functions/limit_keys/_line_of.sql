-- Deploy qwf:functions/limit_keys/_line_of
-- Purpose: Returns the queue in whose line a job waits; null: it does not wait.
-- Guarantees: The first column of the index jobs_keyed, in one expression without a pinned
--   search_path, so that the planner inlines it and uses the index.
-- Called by: every function that walks along jobs_keyed.

begin;

create function _qwf.line_of(p_job qwf.jobs) returns text
language sql immutable
as $$
  select case when p_job.status = 'queued' then p_job.queue end
$$;

commit;
