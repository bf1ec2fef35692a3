-- Deploy qwf:functions/finish/_leaves_no_row
-- Purpose: True for a job that leaves no row when it completes: its queue keeps no completed jobs,
--   and nobody needs it, as a node of a run or because its key is used once.
-- Guarantees: One expression without a pinned search_path, so that the planner inlines it.
-- Called by: finish_many.

begin;

create function _qwf.leaves_no_row(p_job qwf.jobs, p_dropping text[]) returns boolean
language sql immutable
as $$
  select p_job.queue = any (p_dropping) and p_job.run_id is null and not p_job.once
$$;

commit;
