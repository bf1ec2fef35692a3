-- Deploy qwf:functions/finish/_record_attempts
-- Purpose: Writes the attempts and the statistics of jobs that end otherwise than in the statement
--   of finish_many.
-- Guarantees: Counts no attempt of the engine's own queues. Keeps of the detail of a report what it
--   knows, up to 4095 bytes each; a long log or reason is cut.
-- Called by: _write_reports.

begin;

create function _qwf.record_attempts(
  p_held _qwf.held[], p_now timestamptz, p_settings qwf.settings) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.job_attempts (job_id, attempt, token, worker, queued_at, started_at, finished_at,
    outcome, error, log_tail, detail)
  select h.id, h.attempt, h.token, h.claimed_by, h.queued_at, h.claimed_at, p_now, h.outcome,
    h.error, _qwf.tail(h.detail ->> 'log_tail', p_settings.max_log_bytes), coalesce(k.detail, '{}')
    || case when _qwf.may_have_run(h.begun, h.outcome, h.detail ->> 'reason') then
      jsonb_build_object('reason', 'maybe_run', 'cause', k.detail -> 'reason') else '{}' end
  from unnest(p_held) h
  cross join lateral (
    select jsonb_object_agg(d.key, case d.key
      when 'reason' then to_jsonb(left(d.value #>> '{}', 1000)) else d.value end) as detail
    from jsonb_each(h.detail) d
    where d.key in ('reason', 'exit_code', 'signal', 'max_rss_bytes', 'cpu_seconds',
        'gpu_peak_bytes', 'host', 'retry_after_s', 'usage', 'batch', 'body_s')
      and (d.key = 'reason' or _qwf.json_problem(d.value, 4095) is null)
  ) k;

  insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
  select date_bin('1 minute', p_now, 'epoch'), h.queue, h.task, h.outcome,
    array_agg(date_part('epoch', h.claimed_at - h.queued_at)::real),
    array_agg(coalesce(_qwf.as_number(h.detail -> 'body_s', 1e9),
      date_part('epoch', p_now - h.claimed_at))::real)
  from unnest(p_held) h
  where not starts_with(h.queue, 'qwf.')
  group by h.queue, h.task, h.outcome;
end $$;

commit;
