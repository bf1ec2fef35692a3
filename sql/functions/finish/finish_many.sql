-- Deploy qwf:functions/finish/finish_many
-- Purpose: Takes a worker's reports about attempts that ended.
-- Guarantees: The new state of the job, the attempt row and the event are written in one
--   transaction. A report with a stale token changes nothing and is answered lost; the same report
--   again is answered ok, except about a job that left no row in an earlier call. An error while
--   fanning out never undoes the end of the job: the event waits in the outbox.
-- Locks: the reported jobs (by id), then the runs that are free (by id), then jobs of those runs.
-- Notifies: sleepers of queues that got work; workers whose bodies have to stop.
-- Raises: QW005 for a malformed report or an unknown key; nothing is written then.
-- Called by: workers.

begin;

create function qwf.finish_many(reports jsonb) returns setof qwf.report_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_read record := _qwf.read_reports(finish_many.reports);
  v_done record := _qwf.end_attempts(v_read.reports, v_read.all_completed);
begin
  if v_done.ended = cardinality(v_read.reports) and v_done.pending = '{}' then  -- the usual case
    return query select r.job_id, 'ok', false from unnest(v_read.reports) r;
  else
    return query
    select
      r.job_id,
      case when r.token = any (v_done.dropped) and r.outcome = 'completed'
          and _qwf.job_of_token(r.token) = r.job_id
        or exists (  -- a token ends one attempt
        select from qwf.job_attempts a
        where a.job_id = r.job_id and a.token = r.token
          and a.outcome = r.outcome and a.error is not distinct from r.error
          and (j.attempt > a.attempt or j.status <> 'completed'
            or j.output is not distinct from r.output)) then 'ok' else 'lost' end,
      coalesce(j.run_id = any (v_done.pending), false)
    from unnest(v_read.reports) with ordinality r (job_id, token, outcome, output, error, detail, n)
    left join lateral (
      select b.run_id, b.attempt, b.status, b.output
      from qwf.jobs b where b.id = r.job_id offset 0) j on true
    order by r.n;
  end if;
end $$;
comment on function qwf.finish_many is
  'Takes a JSON list of reports {job_id, token, outcome, output, error, detail} and answers ok or '
  'lost for each; pending says to call drain_outbox() soon. detail may have reason, exit_code, '
  'signal, max_rss_bytes, cpu_seconds, gpu_peak_bytes, log_tail, host, readings, retry_after_s, '
  'usage, and files as a list of {rel_path, kind, size_bytes}; QW005 for a malformed report or an '
  'unknown key.';
call _qwf.allow('qwf.finish_many', 'qwf_worker');

commit;
