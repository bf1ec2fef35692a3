-- Deploy qwf:functions/finish/_write_ends
-- Purpose: Writes the end of attempts in one statement: the jobs, the attempts and the statistics.
-- Guarantees: Each row is updated at the ctid where it was locked. A job avoids its host for a
--   while only after a loss, a failing accelerator, a full disk or older code. The reason of
--   a cancel request is read before _end_attempts deletes the request. A standalone job without an
--   on_failure of its own does what its queue says at this moment. No attempt of the engine's own
--   queues is counted.
-- Locks: the caller has locked the jobs.
-- Called by: _end_attempts.

begin;

create function _qwf.write_ends(p_reports _qwf.report[], p_now timestamptz) returns _qwf.ended[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.ended[];
begin
  with held as materialized (
    select j.*, r.token, r.outcome, r.output, r.error, r.detail
    from unnest(p_reports) r
    cross join lateral (
      select b.ctid as row, b.id, b.run_id, b.queue, b.task, b.attempt, b.claimed_by, b.queued_at,
        b.claimed_at, b.run_if, b.parent_id, b.failures, b.losses, b.options,
        b.on_failure, b.begun
      from qwf.jobs b where b.id = r.job_id and b.token = r.token) j
  ), ended as (
    update qwf.jobs j set
      status = t.status, output = case when t.status = 'completed' then h.output end,
      failures = t.failures, losses = t.losses,
      run_at = case when t.status = 'scheduled' then p_now + interval '1 s' * t.wait end,
      position = case when t.status <> 'queued' then j.position
        else _qwf.next_position(t.front and not a.task_held) end,
      queued_at = case
        when t.status in ('queued', 'awaiting_input') then p_now else j.queued_at end,
      finished_at = case when t.status in ('completed', 'failed', 'cancelled') then p_now end,
      last_error = case
        when t.status = 'completed' then null
        when t.outcome = 'released' then coalesce(h.error, j.last_error)
        when t.status = 'cancelled' then nullif(concat_ws('; ', coalesce((
            select concat('cancelled by ', _qwf.spell_who(c.login, c.acting_for), ': ' || c.reason)
            from qwf.cancel_requests c where c.job_id = h.id), h.error),
          case when t.begun then 'it may have run' end), '')
        else t.error end,
      last_exit_code = coalesce(_qwf.as_number(h.detail -> 'exit_code', 65535),
        - _qwf.as_number(h.detail -> 'signal', 255))::int,
      input_spec = case when t.status <> 'awaiting_input' then j.input_spec
        else _qwf.failure_question(t.error, true, t.outcome = 'maybe_run') end,
      avoid_host = coalesce(a.host, j.avoid_host),
      avoid_until = case when a.host is null then j.avoid_until else p_now + s.avoid_host end,
      begun = t.begun, token = null, lease_expires_at = null
    from held h
    cross join qwf.settings s
    cross join lateral (select
      case when h.outcome = 'lost'
          or h.detail ->> 'reason' in ('accelerator', 'disk_full', 'older_code')
        then (select w.host from qwf.workers w where w.id = h.claimed_by) end,
      coalesce(h.on_failure, (select q.on_failure from qwf.queues q where q.name = h.queue)),
      exists (
        select from qwf.held_tasks l
        where h.detail ->> 'reason' = 'crashed' and l.queue = h.queue and l.task = h.task
          and l.until is not null)
      offset 0) a (host, on_failure, task_held)
    -- offset 0: else the planner writes all of _transition into each place that reads t
    cross join lateral (select b.* from _qwf.transition(
      h.outcome, h.detail, h.error, h.begun,
      h.outcome <> 'completed' and _qwf.should_stop(h.id, h.run_id, h.run_if, h.parent_id),
      h.failures, h.losses, h.options, a.on_failure, s) b
      offset 0) t
    where j.ctid = h.row
    returning j.id, j.run_id, j.node_id, j.queue, j.task, j.status, j.attempt, h.claimed_by,
      h.queued_at, j.claimed_at, h.token, h.outcome, h.error, h.detail, t.outcome as meaning
  ), attempted as (
    insert into qwf.job_attempts (job_id, attempt, token, worker, queued_at, started_at,
      finished_at, outcome, error, log_tail, detail)
    select e.id, e.attempt, e.token, e.claimed_by, e.queued_at, e.claimed_at, p_now, e.outcome,
      e.error, _qwf.tail(e.detail ->> 'log_tail', s.max_log_bytes),
      _qwf.kept_detail(e.detail, e.meaning = 'maybe_run')
    from ended e cross join qwf.settings s
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, e.outcome,
      array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
      array_agg(coalesce(_qwf.as_number(e.detail -> 'body_s', 1e9),
        date_part('epoch', p_now - e.claimed_at))::real)
    from ended e
    where not starts_with(e.queue, 'qwf.')
    group by e.queue, e.task, e.outcome
  )
  select array_agg((e.id, e.run_id, e.node_id, e.queue, e.status, e.attempt, e.claimed_by,
    e.token, e.outcome, e.detail)::_qwf.ended) into v_ended
  from ended e;
  return v_ended;
end $$;

commit;
