-- Deploy qwf:functions/finish/_write_ended
-- Purpose: Writes the end of attempts into their jobs: a job completes, goes back to the queue,
--   waits, asks, fails or is cancelled.
-- Guarantees: Each row is updated at the ctid where it was locked. A job avoids its host for a
--   while only after a loss, a failing accelerator, a full disk or older code. A transient failure
--   waits at least detail.retry_after_s, a release exactly so long (at least 1 s), both at most 366
--   days. The reason of a cancel request is read before _write_reports deletes the request. A
--   standalone job without an on_failure of its own does what its queue says at this moment.
-- Locks: the caller has locked the jobs.
-- Called by: _write_reports.

begin;

create function _qwf.write_ended(
  p_held _qwf.held[], p_now timestamptz, p_settings qwf.settings)
returns _qwf.ended[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.ended[];
begin
  with ended as (
    update qwf.jobs j set
      status = t.status, output = case when t.status = 'completed' then h.output end,
      failures = t.failures, losses = t.losses,
      run_at = case when t.status = 'scheduled' then p_now + interval '1 s' * greatest(case
        when a.outcome <> 'released' then t.wait * (0.9 + 0.2 * random()) end, a.retry_after_s) end,
      position = case when t.status = 'queued' then _qwf.next_position(
          t.front and not _qwf.is_held(h.queue, h.task, h.detail ->> 'reason'))
        else j.position end,
      queued_at = case
        when t.status in ('queued', 'awaiting_input') then p_now else j.queued_at end,
      finished_at = case when t.status in ('completed', 'failed', 'cancelled') then p_now end,
      last_error = case
        when t.status = 'completed' then null
        when a.outcome = 'released' then coalesce(h.error, j.last_error)
        when t.status = 'cancelled' then nullif(concat_ws('; ', coalesce((
            select concat('cancelled by ', _qwf.spell_who(c.login, c.acting_for), ': ' || c.reason)
            from qwf.cancel_requests c where c.job_id = h.id), h.error),
          case when a.begun then 'it may have run' end), '')
        else t.error || a.error end,
      last_exit_code = coalesce(_qwf.as_number(h.detail -> 'exit_code', 65535),
        - _qwf.as_number(h.detail -> 'signal', 255))::int,
      input_spec = case when t.status <> 'awaiting_input' then j.input_spec
        else _qwf.failure_question(t.error || a.error, true, a.outcome = 'maybe_run') end,
      avoid_host = coalesce(a.host, j.avoid_host),
      avoid_until = case when a.host is null then j.avoid_until
        else p_now + p_settings.avoid_host end,
      begun = a.begun, token = null, lease_expires_at = null
    from unnest(p_held) h
    cross join lateral (select case
      when h.outcome = 'lost' or h.detail ->> 'reason' in ('accelerator', 'disk_full', 'older_code')
      then (select w.host from qwf.workers w where w.id = h.claimed_by) end,
      case when h.outcome in ('tempfail', 'released')
          and _qwf.as_number(h.detail -> 'retry_after_s') > 0
        then least(greatest((h.detail -> 'retry_after_s')::numeric, (h.outcome = 'released')::int),
          31622400) end,
      coalesce(h.on_failure, (select q.on_failure from qwf.queues q where q.name = h.queue)),
      o.outcome, case when h.begun and (o.outcome in ('tempfail', 'released')
        or o.reason = 'arguments') then false else h.begun end,
      coalesce(h.error, case when o.outcome = 'maybe_run' and h.outcome = 'released'
        then 'given back by its worker' || coalesce(' (' || o.reason || ')', '') end,
        o.reason, h.outcome)
      from (select left(h.detail ->> 'reason', 1000), case
        when _qwf.may_have_run(h.begun, h.outcome, h.detail ->> 'reason') then 'maybe_run'
        when h.begun and h.outcome = 'error' then 'fatal'
        else h.outcome end) o (reason, outcome)
      ) a (host, retry_after_s, on_failure, outcome, begun, error)
    cross join lateral _qwf.transition(
      a.outcome, _qwf.should_stop(h.id, h.run_id, h.run_if, h.parent_id), h.failures, h.losses,
      h.max_attempts, h.max_losses, h.backoff, a.on_failure, a.retry_after_s, p_settings) t
    where j.ctid = h.row
    returning (h.id, h.run_id, h.node_id, h.queue, j.status, h.attempt, h.claimed_by, h.outcome,
      h.detail)::_qwf.ended as job
  )
  select coalesce(array_agg(e.job), '{}') into v_ended from ended e;
  return v_ended;
end $$;

commit;
