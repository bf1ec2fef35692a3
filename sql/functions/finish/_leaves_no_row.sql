-- Deploy qwf:functions/finish/_leaves_no_row
-- Purpose: True for a report about a job that leaves no row when it completes: its queue keeps no
--   completed jobs, and nobody needs it, as a node of a run or because its key is used once.
-- Guarantees: One expression without a pinned search_path, so that the planner inlines it.
-- Called by: finish_many, _drop_completed.

begin;

create function _qwf.leaves_no_row(p_report jsonb, p_dropping text[]) returns boolean
language sql stable
as $$
  select coalesce((
    select j.queue = any (p_dropping) and j.run_id is null and not j.once
    from qwf.jobs j where j.id = (p_report ->> 'job_id')::bigint), false)
$$;

commit;
