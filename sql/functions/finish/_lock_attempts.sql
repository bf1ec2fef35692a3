-- Deploy qwf:functions/finish/_lock_attempts
-- Purpose: Locks the attempts that reports are about: the fence.
-- Guarantees: A report whose token is not the job's current one locks nothing; of two reports about
--   one attempt the first counts. The version read is the one that was locked, and its row stays
--   where it is (row) until the transaction ends. Each job is found by id and token alone, whatever
--   the statistics say: the token is null unless the job is running.
-- Locks: the jobs, by id.
-- Called by: _write_reports.

begin;

create function _qwf.lock_attempts(p_reports _qwf.report[]) returns _qwf.held[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (
      j.row, j.id, j.run_id, j.node_id, j.queue, j.task, j.attempt, j.claimed_by, j.queued_at,
      j.claimed_at, j.limit_by, j.run_if, j.parent_id, j.on_failure, j.failures, j.losses,
      j.max_attempts, j.max_losses, j.backoff, j.once, r.token, r.outcome, r.output, r.error,
      r.detail, j.begun
      )::_qwf.held
    from (
      select distinct on (u.job_id, u.token) u.*
      from unnest(p_reports)
        with ordinality u (job_id, token, outcome, output, error, detail, ord)
      order by u.job_id, u.token, u.ord
    ) r
    cross join lateral (
      select b.ctid as row, b.id, b.run_id, b.node_id, b.queue, b.task, b.attempt, b.claimed_by,
        b.queued_at, b.claimed_at, b.limit_by, b.run_if, b.parent_id, b.on_failure, b.failures,
        b.losses, b.max_attempts, b.max_losses, b.backoff, b.once, b.begun
      from qwf.jobs b
      where b.id = r.job_id and b.token = r.token
      for no key update) j);
end $$;

commit;
