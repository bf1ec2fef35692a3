-- Deploy qwf:functions/read/_why_run
-- Purpose: Says which run a running step is, and how far that is.
-- Guarantees: Null for a job that a worker has.
-- Called by: why_not.

begin;

create function _qwf.why_run(p_job qwf.jobs) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('it is run %s of %s, %s, %s of %s nodes done', r.id, r.workflow,
    replace(r.status::text, '_', ' '), r.node_count - n.left, r.node_count)
  from qwf.runs r
  cross join lateral (
    select count(*) as left from qwf.jobs j
    where j.run_id = r.id and j.node_idx is not null
      and j.status not in ('completed', 'skipped')) n
  where r.parent_id = p_job.id and starts_with(p_job.queue, 'qwf.')
  order by r.id desc
  limit 1
$$;

commit;
