-- Rows that say what a job waits for besides a worker, and how people read them. Callers hold
-- the locks of the jobs or of their run.

-- Writes what some jobs wait for, when they have begun to ask or got a deadline. Writes nothing
-- for a job that only waits for a worker. A deadline that moves is the same row: a tick that saw
-- it before can still delete it.
-- Locks: expects the jobs, or their run, locked by the caller.
create function _qwf.add_waits(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  insert into qwf.waits (job_id, kind, since, at, project, name, refused)
  select w.*
  from unnest(p_jobs) p (id)
  join qwf.jobs j on j.id = p.id
  cross join lateral _qwf.waits_of(j) w
  on conflict (job_id, kind) do update set
    since = excluded.since, at = excluded.at, project = excluded.project, name = excluded.name,
    refused = null;
end $$;

-- Returns what a job waits for besides a worker, as the rows that it has in waits. The only
-- place that says which jobs have which rows. One expression without a pinned search_path, so
-- that the planner inlines it.
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

-- Returns the question for a person when a job with on_failure ask fails for good. p_maybe: the
-- job runs at most once, and may have run. Who answers has_run completes it, with an output as
-- {"has_run": {…}}; has_not retries it. Offers no retry if the job could not even start: its
-- references would fail again.
create function _qwf.failure_question(
  p_error text, p_started boolean default true, p_maybe boolean default false)
returns jsonb
language sql immutable
as $$
  select jsonb_build_object('widget', 'on_failure', 'error', left(p_error, 8192)) || case
    when p_maybe then jsonb '{"prompt": "It may have run. Has it run, or has it not?",
      "options": ["has_run", "has_not", "skip", "abort"]}'
    when p_started then jsonb '{"prompt": "It failed. Retry it, skip it, or abort?",
      "options": ["retry", "skip", "abort"]}'
    else '{"prompt": "It cannot start. Skip it, or abort?", "options": ["skip", "abort"]}' end
$$;

-- Says how a map ended that stops when enough of its elements have completed: how many completed
-- and failed, and how many were stopped, or still stop. Null if none was stopped.
create function _qwf.spell_enough(p_counts jsonb, p_needed text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(', ',
    c.completed || ' completed', c.skipped || ' skipped', c.failed || ' failed',
    nullif(c.cancelled, 0) || ' stopped', nullif(c.live, 0) || ' still to stop')
    || ': ' || p_needed || case when p_needed = '1' then ' was enough' else ' were enough' end
  from (
    select (p_counts -> 'completed')::int as completed, (p_counts -> 'skipped')::int as skipped,
      (p_counts -> 'failed')::int as failed,
      coalesce((p_counts -> 'cancelled')::int, 0) as cancelled, (
        select coalesce(sum(e.value::int), 0) from jsonb_each_text(p_counts) e
        where e.key not in ('completed', 'skipped', 'failed', 'cancelled')) as live) c
  where c.cancelled + c.live > 0
$$;
call _qwf.allow('_qwf.spell_enough', 'qwf_viewer');

-- Says at which turn a repeat is, by its last turn, and when the next one starts; without a
-- place, when a job starts.
create function _qwf.spell_turn(
  p_place int, p_max jsonb, p_status qwf.job_status, p_run_at timestamptz)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds bigint := ceil(greatest(extract(epoch from p_run_at - qwf.now()), 0));
  v_wait text := case
    when v_seconds < 100 then v_seconds || ' s'
    when v_seconds < 36000 then v_seconds / 60 || ' min'
    when v_seconds < 172800 then v_seconds / 3600 || ' h'
    else v_seconds / 86400 || ' days' end;
begin
  return case
    when p_place is null then 'starts in ' || v_wait
    when p_status = 'scheduled' and p_place = 0 then 'starts in ' || v_wait
    when p_status = 'scheduled' then format('turn %s of %s, next in %s', p_place, p_max, v_wait)
    when p_status = 'completed' then format('done after %s of %s turns', p_place + 1, p_max)
    else format('turn %s of %s', p_place + 1, p_max) end;
end $$;
call _qwf.allow('_qwf.spell_turn', 'qwf_viewer');
