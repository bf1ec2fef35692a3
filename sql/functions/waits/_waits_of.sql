-- Deploy qwf:functions/waits/_waits_of
-- Purpose: Returns what a job waits for besides a worker, as the rows that it has in waits.
-- Guarantees: The only place that says which jobs have which rows. One expression without a pinned
--   search_path, so that the planner inlines it.
-- Called by: _add_waits, _kept_invariants.

begin;

create function _qwf.waits_of(p_job qwf.jobs) returns setof qwf.waits
language sql stable
as $$
  select p_job.id, 'question',
    date_trunc('milliseconds', coalesce(p_job.queued_at, p_job.created_at)),
    case when p_job.queue is null then p_job.expires_at end,
    null::text, null::text, null::bigint[]
  where p_job.status = 'awaiting_input' and p_job.input_spec ? 'widget'
  union all
  select p_job.id, 'signal',
    date_trunc('milliseconds', coalesce(p_job.queued_at, p_job.created_at)),
    case when not p_job.input_spec ? 'widget' then p_job.expires_at end,
    p_job.project, p_job.input_spec ->> 'signal', null::bigint[]
  where p_job.status = 'awaiting_input' and p_job.input_spec ? 'signal'
  union all
  select p_job.id, 'deadline', null, p_job.expires_at, null::text, null::text, null::bigint[]
  where p_job.status in ('scheduled', 'queued') and p_job.attempt = 0
    and p_job.expires_at is not null
$$;

commit;
