-- Deploy qwf:functions/search/_newest_failures
-- Purpose: Returns the newest failed jobs, with the line of their error that says most.
-- Guarantees: Reads at most p_max of them. Leaves out erased jobs and what fails because of other
--   jobs: a map some of whose elements failed, a step that is a run, other jobs of the engine.
-- Called by: failure_groups.

begin;

create function _qwf.newest_failures(p_since timestamptz, p_max int)
returns table (
  id bigint, run_id bigint, task text, queue text, claimed_by text, finished_at timestamptz,
  error text)
language sql stable
as $$
  select j.id, j.run_id, j.task, j.queue, j.claimed_by, j.finished_at,
    _qwf.error_line(j.last_error)
  from qwf.jobs j
  where j.status = 'failed' and j.erased_parts is null
    and coalesce(not starts_with(j.queue, 'qwf.'), true)
    and not coalesce(j.last_error ~ '^[0-9]+ of [0-9]+ elements failed' and exists (
      select from qwf.jobs e where e.parent_id = j.id and e.status = 'failed'), false)
    and j.finished_at >= coalesce(p_since, '-infinity')
  order by j.finished_at desc
  limit p_max
$$;

commit;
