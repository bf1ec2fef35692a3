-- Deploy qwf:functions/finish/_record_attempts
-- Purpose: Writes the history of attempts that just ended: attempt rows, statistics, and what few
--   attempts have.
-- Guarantees: An invalid number from a worker becomes null, a long text is cut; the report is not
--   lost.
-- Called by: _end_attempts.

begin;

create function _qwf.record_attempts(
  p_ended _qwf.ended[], p_now timestamptz, p_settings qwf.settings)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_usual constant text[] := '{reason,exit_code,signal,max_rss_bytes,cpu_seconds,gpu_peak_bytes,
    log_tail,host,retry_after_s,usage}';
begin
  insert into qwf.job_attempts (
    job_id, attempt, token, worker, queued_at, started_at, finished_at, outcome, reason, error,
    exit_code, signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes, log_tail, usage)
  select
    e.id, e.attempt, e.token, e.worker, e.queued_at, e.claimed_at, p_now, e.outcome,
    left(e.detail ->> 'reason', 1000), e.error,
    _qwf.as_number(e.detail -> 'exit_code', 65535)::int,
    _qwf.as_number(e.detail -> 'signal', 255)::int,
    _qwf.as_number(e.detail -> 'max_rss_bytes')::bigint,
    _qwf.as_number(e.detail -> 'cpu_seconds')::real,
    _qwf.as_number(e.detail -> 'gpu_peak_bytes')::bigint,
    _qwf.tail(e.detail ->> 'log_tail', p_settings.max_log_bytes),
    case when jsonb_typeof(e.detail -> 'usage') = 'object'
      and _qwf.json_problem(e.detail -> 'usage', 4095) is null then e.detail -> 'usage' end
  from unnest(p_ended) e;

  insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
  select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, e.outcome,
    array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
    array_agg(date_part('epoch', p_now - e.claimed_at)::real)
  from unnest(p_ended) e
  group by e.queue, e.task, e.outcome;

  if exists (
    select from unnest(p_ended) e
    where e.outcome = 'lost' or e.status = 'cancelled' or e.detail ? 'files'
      or e.detail - v_usual <> '{}'
      or exists (select from qwf.cancel_requests c where c.job_id = e.id)
  ) then
    perform _qwf.record_unusual(p_ended, p_now);
  end if;
end $$;

commit;
