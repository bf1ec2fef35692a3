-- Deploy qwf:functions/_stamp
-- requires: schema/types
-- requires: schema/jobs
-- requires: schema/history
-- requires: schema/statistics
-- requires: schema/outbox
-- requires: functions/_new_token
-- requires: functions/_resolved_inputs
-- requires: functions/_resolution_error
-- requires: functions/_gate
-- Purpose: Makes picked jobs running; those whose references cannot be resolved fail, or ask.
-- Guarantees: Rows come from the update itself. A failure is an attempt with its reason, and leaves
--   an event for its run. Jobs are found by id one by one (offset 0), and updated where they were
--   found (they are locked): with joins a session that made its plan while the table was empty
--   would read all of it.
-- Locks: expects the jobs locked by the caller; runs that have not started, those that are free.
--   The run's state is asked for by started_at, so that no partial index on its status tempts the
--   planner.
-- Called by: claim.

begin;

create function qwf._stamp(
  p_jobs bigint[], p_worker text, p_now timestamptz, p_until timestamptz, p_timeout interval)
returns setof qwf.claimed_job
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with picked as materialized (
    select j.ctid as row, p.ord, r.value, e.error, case
        when e.error is null then 'running'
        when j.on_failure = 'ask' then 'awaiting_input'
        else 'failed'
      end::qwf.job_status as status
    from unnest(p_jobs) with ordinality p (id, ord)
    cross join lateral (select j.ctid, j.* from qwf.jobs j where j.id = p.id offset 0) j
    left join lateral qwf._resolved_inputs(j.run_id, j.graph_id, j.node_idx) r on true
    cross join lateral (select qwf._resolution_error(r.error)) e (error)
  ), stamped as (
    update qwf.jobs j set
      status = p.status, token = case when p.error is null then qwf._new_token(j.id) end,
      lease_expires_at = case when p.error is null then p_until end,
      finished_at = case when p.status = 'failed' then p_now end,
      input_spec = case p.status
        when 'awaiting_input' then qwf._gate(p.error) else j.input_spec end,
      last_error = coalesce(p.error, j.last_error), resolved_inputs = p.value,
      attempt = j.attempt + 1, claimed_by = p_worker, claimed_at = p_now,
      started_at = coalesce(j.started_at, p_now),
      run_next = false, progress = null, progress_message = null, beat_at = null
    from picked p
    where j.ctid = p.row
    returning j.*, p.ord, p.error
  ), refused as (
    insert into qwf.job_attempts (
      job_id, attempt, worker, queued_at, started_at, finished_at, outcome, reason, error)
    select s.id, s.attempt, p_worker, s.queued_at, p_now, p_now, 'fatal', 'unresolved', s.error
    from stamped s where s.error is not null
  ), counted as (
    insert into qwf.attempt_counts (hour, queue, task, outcome, waits, runs)
    select date_bin('1 hour', p_now, 'epoch'), s.queue, s.task, 'fatal',
      array_agg(date_part('epoch', p_now - s.queued_at)::real), array_agg(0::real)
    from stamped s where s.error is not null group by s.queue, s.task
  ), event as (
    insert into qwf.outbox (run_id, job_id, kind)
    select s.run_id, s.id, case s.status when 'failed' then 'failed' else 'asked' end
    from stamped s where s.error is not null
  ), fresh as materialized (
    select r.id from qwf.runs r
    where r.id = any (array(select s.run_id from stamped s))
      and r.started_at is null and r.finished_at is null
    order by r.id for no key update skip locked
  ), started as (
    update qwf.runs r set status = 'running', started_at = p_now
    where r.id = any (array(select f.id from fresh f))
  )
  select
    s.id, s.token, s.run_id, s.node_id, s.task, s.queue, coalesce(s.resolved_inputs, s.inputs),
    s.attempt, coalesce(s.timeout, p_timeout), s.stall_timeout, s.required_model, r.out_dir,
    s.lease_expires_at, s.project, s.labels, s.light
  from stamped s
  left join lateral (  -- offset: by the index, whatever the statistics say
    select r.out_dir from qwf.runs r where r.id = s.run_id offset 0) r on true
  where s.error is null
  order by s.ord;
end $$;
comment on function qwf._stamp(bigint[], text, timestamptz, timestamptz, interval) is
  'Stamps locked jobs with worker, token and lease and returns them; fails those with an '
  'unresolvable reference.';
revoke all on function qwf._stamp(bigint[], text, timestamptz, timestamptz, interval) from public;

commit;
