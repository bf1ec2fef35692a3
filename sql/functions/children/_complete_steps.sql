-- Deploy qwf:functions/children/_complete_steps
-- Purpose: Ends the attempts of steps whose runs have completed: the usual end of a run.
-- Guarantees: As _write_reports for a report that completed, in one statement: the engine's own
--   attempts count in no statistics, and no step has a key. The fence: a report whose token is not
--   the job's current one changes nothing. A cancel request loses against completion, as for any
--   job; tick() deletes it.
-- Locks: the jobs, by id.
-- Called by: _report_runs.

begin;

create function _qwf.complete_steps(p_reports _qwf.report[], p_now timestamptz)
returns _qwf.finished
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
  v_ended _qwf.finished;
begin
  with ended as (
    update qwf.jobs j set
      status = 'completed', output = r.output, run_at = null, finished_at = p_now,
      last_error = null, last_exit_code = null, token = null, lease_expires_at = null
    from unnest(p_reports) r
    where j.id = r.job_id and j.token = r.token
    returning j.id, j.run_id, j.attempt, r.token, j.claimed_by, j.queued_at, j.claimed_at,
      j.limit_place
  ), attempted as (
    insert into qwf.job_attempts (
      job_id, attempt, token, worker, queued_at, started_at, finished_at, outcome, detail)
    select e.id, e.attempt, e.token, e.claimed_by, e.queued_at, e.claimed_at, p_now, 'completed',
      '{}'
    from ended e
  )
  select
    count(*), array_agg(e.id), array_agg((e.run_id, e.id, 'completed')::_qwf.event),
    array_agg(e.limit_place) filter (where e.limit_place is not null)
    into v_ended.count, v_ended.ids, v_ended.events, v_ended.places
  from ended e;
  return v_ended;
end $$;

commit;
