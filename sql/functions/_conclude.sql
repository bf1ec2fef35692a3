-- Deploy qwf:functions/_conclude
-- requires: schema/jobs
-- requires: schema/history
-- requires: functions/_transition
-- requires: functions/_first_reports
-- requires: functions/_lock_attempts
-- requires: functions/_events_of
-- requires: functions/_next_position
-- requires: functions/_record_attempts
-- requires: functions/_release_slots
-- requires: functions/_dispatch
-- requires: functions/_verdicts
-- requires: functions/_number
-- requires: functions/_is_stopped
-- requires: functions/_gate
-- requires: functions/_host_to_avoid
-- requires: functions/_cancel_reason
-- requires: functions/_wake
-- requires: functions/now
-- Purpose: Ends attempts: the one place where a running job stops running.
-- Guarantees: The fence: only a report with the job's current token changes anything. All rows of
--   one call end together.
-- Locks: the jobs (by id), then whatever _dispatch locks without waiting.
-- Notifies: sleepers of the queues that got work back.
-- Called by: finish_many, reclaim, deregister_worker.

begin;

create function qwf._conclude(p_reports qwf.report[]) returns setof qwf.report_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_avoid interval := (select s.avoid_host from qwf.settings s);
  v_ended qwf.ended[];
  v_left bigint[];
begin
  perform qwf._lock_attempts(p_reports);
  with held as materialized (  -- offset: each by its id, whatever the statistics say
    select
      j.row, j.id, j.run_id, j.run_if, j.parent_id, j.on_failure, j.failures, j.losses,
      j.max_attempts, j.max_losses, j.backoff, j.claimed_at, j.queued_at, r.token, r.outcome,
      r.output, r.error, r.detail, case when r.outcome <> 'completed'
        then qwf._host_to_avoid(j.claimed_by, r.outcome, r.detail) end as bad_host
    from qwf._first_reports(p_reports) r
    cross join lateral (
      select b.ctid as row, b.* from qwf.jobs b
      where b.id = r.job_id and b.token = r.token offset 0) j
  ), ended as (
    update qwf.jobs j set
      status = t.status, output = h.output, failures = t.failures, losses = t.losses,
      run_at = case when t.status = 'scheduled'
        then v_now + t.wait * (0.9 + 0.2 * random()) * interval '1 s' end,
      position = case when t.status = 'queued' then qwf._next_position(t.front) else j.position end,
      queued_at = case
        when t.status in ('queued', 'awaiting_input') then v_now else j.queued_at end,
      finished_at = case when t.status in ('completed', 'failed', 'cancelled') then v_now end,
      last_error = case
        when h.outcome = 'completed' then null
        when h.outcome = 'released' then coalesce(h.error, j.last_error)
        when t.status = 'cancelled' then coalesce(qwf._cancel_reason(h.id), h.error)
        else t.error || coalesce(h.error, h.detail ->> 'reason', h.outcome) end,
      last_exit_code = qwf._number(h.detail -> 'exit_code', 65535)::int,
      input_spec = case
        when t.status = 'awaiting_input' then qwf._gate(t.error || h.error) else j.input_spec end,
      avoid_host = coalesce(h.bad_host, j.avoid_host),
      avoid_until = case when h.bad_host is null then j.avoid_until else v_now + v_avoid end,
      token = null, lease_expires_at = null
    from held h
    cross join lateral qwf._transition(
      h.outcome,
      h.outcome <> 'completed' and qwf._is_stopped(h.id, h.run_id, h.run_if, h.parent_id),
      h.failures, h.losses, h.max_attempts, h.max_losses, h.backoff, h.on_failure) t
    where j.ctid = h.row
    returning (j.id, j.run_id, j.node_id, j.queue, j.status, j.attempt, h.token, j.claimed_by,
      h.queued_at, h.claimed_at, h.outcome, h.error, h.detail, j.limit_by, j.task)::qwf.ended as job
  )
  select coalesce(array_agg(e.job), '{}') into v_ended from ended e;
  perform qwf._record_attempts(v_ended, v_now), qwf._release_slots(v_ended);
  v_left := qwf._dispatch(qwf._events_of(v_ended));
  perform qwf._wake(e.queue, count(*)::int)
  from unnest(v_ended) e
  where e.status = 'queued'
  group by e.queue;
  return query select * from qwf._verdicts(p_reports, v_ended, v_left);
end $$;
comment on function qwf._conclude(qwf.report[]) is
  'Applies reports to the jobs whose token they carry, records the attempts, and dispatches the '
  'consequences.';
revoke all on function qwf._conclude(qwf.report[]) from public;

commit;
