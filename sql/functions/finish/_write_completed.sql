-- Deploy qwf:functions/finish/_write_completed
-- Purpose: Ends attempts that completed: the row of the job, its attempt and the statistics, in one
--   statement.
-- Guarantees: The fence: only a report with the job's current token changes anything; of two
--   reports about one attempt the first counts. A job that somebody else changes meanwhile is
--   looked at again once they have committed. Each job is found by id and token alone, whatever the
--   statistics say: the token is null unless the job is running. Completion wins over a pending
--   cancel request. Returns the ids of the jobs that ended, their events, those with something for
--   _record_unusual, and the keys that are free for the next.
-- Locks: the jobs, by id.
-- Called by: _end_attempts.

begin;

create function _qwf.write_completed(
  p_reports _qwf.report[], p_now timestamptz,
  out ids bigint[], out events _qwf.event[], out unusual _qwf.ended[], out keys _qwf.job_key[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with ended as (
    update qwf.jobs j set
      status = 'completed', output = r.output, run_at = null, finished_at = p_now,
      last_error = null, last_exit_code = _qwf.as_number(r.detail -> 'exit_code', 65535)::int,
      token = null, lease_expires_at = null
    from (
      select u.*
      from unnest(p_reports)
        with ordinality u (job_id, token, outcome, output, error, detail, ord)
      order by u.job_id, u.ord
    ) r
    where j.id = r.job_id and j.token = r.token
    returning j.id, j.run_id, j.node_id, j.queue, j.task, j.attempt, r.token, j.claimed_by,
      j.queued_at, j.claimed_at, r.error, r.detail, j.project, j.key, j.key_state
  ), attempted as (
    insert into qwf.job_attempts (
      job_id, attempt, token, worker, queued_at, started_at, finished_at, outcome, error,
      reason, exit_code, signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes, log_tail, usage)
    select e.id, e.attempt, e.token, e.claimed_by, e.queued_at, e.claimed_at, p_now, 'completed',
      e.error, m.*
    from ended e cross join lateral _qwf.measured(e.detail) m
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, 'completed',
      array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
      array_agg(date_part('epoch', p_now - e.claimed_at)::real)
    from ended e
    group by e.queue, e.task
  )
  select
    array_agg(e.id),
    array_agg((e.run_id, e.id, 'completed')::_qwf.event) filter (where e.run_id is not null),
    array_agg((e.id, e.run_id, e.node_id, e.queue, 'completed', e.attempt, e.claimed_by,
      'completed', e.detail)::_qwf.ended) filter (where _qwf.is_unusual(e.detail)),
    array_agg((e.project, e.task, e.key)::_qwf.job_key) filter (where e.key_state = 's')
    into ids, events, unusual, keys
  from ended e;
end $$;

commit;
