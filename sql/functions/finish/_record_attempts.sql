-- Deploy qwf:functions/finish/_record_attempts
-- Purpose: Writes the attempts and the statistics of jobs that end without completing.
--   _write_completed writes those of the others.
-- Called by: _end_attempts.

begin;

create function _qwf.record_attempts(p_held _qwf.held[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.job_attempts (
    job_id, attempt, token, worker, queued_at, started_at, finished_at, outcome, error, reason,
    exit_code, signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes, log_tail, usage)
  select h.id, h.attempt, h.token, h.claimed_by, h.queued_at, h.claimed_at, p_now, h.outcome,
    h.error, m.*
  from unnest(p_held) h cross join lateral _qwf.measured(h.detail) m
  where h.outcome <> 'completed';

  insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
  select date_bin('1 minute', p_now, 'epoch'), h.queue, h.task, h.outcome,
    array_agg(date_part('epoch', h.claimed_at - h.queued_at)::real),
    array_agg(date_part('epoch', p_now - h.claimed_at)::real)
  from unnest(p_held) h
  where h.outcome <> 'completed'
  group by h.queue, h.task, h.outcome;
end $$;

commit;
