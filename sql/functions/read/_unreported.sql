-- Deploy qwf:functions/read/_unreported
-- Purpose: Returns the boxes that have ended bodies whose reports the database refuses, how many,
--   and why; of p_job only the box that has it, and the reason of its task.
-- Guarantees: Reads what live workers have said with their last heartbeat, and never fails because
--   of what they said. A heartbeat names the first 200 jobs.
-- Called by: _doctor_findings, _why_running, _worker_metrics.

begin;

create function _qwf.unreported(p_job qwf.jobs default null)
returns table (host text, reports bigint, why text)
language sql stable
as $$
  select w.host, sum(_qwf.as_number(t.value -> 'reports', 1e6))::bigint, string_agg(
    case when p_job.id is null then concat(t.value ->> 'reports', ' of ', t.value ->> 'task', ': ')
      else '' end || left(t.value ->> 'error', 700), '; ' order by t.value ->> 'task')
  from qwf.workers w
  cross join qwf.settings s
  cross join jsonb_path_query(w.stats, '$.unreported.tasks[*]') t (value)
  where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    and (p_job.id is null or w.id = p_job.claimed_by and t.value ->> 'task' = p_job.task
      and w.stats @? format('$.unreported.jobs[*] ? (@ == %s)', p_job.id)::jsonpath)
  group by w.host
$$;

commit;
