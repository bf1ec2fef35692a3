-- Deploy qwf:functions/read/_why_late
-- Purpose: Says of a running job whether it runs for longer than usual.
-- Guarantees: Null if it does not, its body has ended, or too few have completed to say. Of a node
--   it tells by its workflow and name, of a standalone job by its task.
-- Called by: why_not.

begin;

create function _qwf.why_late(p_job qwf.jobs, p_now timestamptz) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('; 19 of 20 took less than %s',
    greatest(interval '1 s', date_trunc('second', u.p95 * interval '1 s' + interval '999 ms')))
  from qwf.usual_times u
  where u.kind = case when p_job.run_id is null then 'task' else 'node' end
    and u.name = coalesce(
      (select r.workflow from qwf.runs r where r.id = p_job.run_id), p_job.task)
    and u.node = case when p_job.run_id is null then '' else p_job.node_id end
    and not exists (select from _qwf.unreported(p_job))
    and u.runs >= 10 and p_now - p_job.claimed_at > u.p95 * interval '1 s'
$$;

commit;
