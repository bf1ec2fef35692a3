-- Deploy qwf:functions/children/_report_runs
-- Purpose: Ends the attempts of the jobs for which runs ran that are over.
-- Guarantees: The fence is that of every report: the token of the job, and the attempt that the run
--   serves. Returns true if what follows for a run above waits in the outbox. A run in line that
--   was cancelled takes its job out of the line. A run in line that failed and has tries left is
--   queued again (see _end_kind). If a body of it still runs, which only a run that ended at once
--   leaves (see _end_run), it stays failed, and is looked at again every 5 seconds.
-- Locks: the jobs on the queue of runs (by id), whose rows nobody holds who waits for a run below;
--   then as _end_attempts.
-- Called by: _apply_events, _serve_runs.

begin;

create function _qwf.report_runs(p_runs bigint[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_reports _qwf.report[];
  v_done _qwf.finished;
  v_in_line boolean;  -- null: none of them has a job
begin
  select bool_or(r.depth = 0),
    array_agg((j.id, j.token, o.outcome, o.output, _qwf.clip(o.error, s.max_error_bytes),
      '{}')::_qwf.report order by j.id) filter (where j.id is not null)
    into v_in_line, v_reports
  from qwf.runs r
  join qwf.graphs g on g.id = r.graph_id
  cross join qwf.settings s
  left join qwf.jobs j on j.id = r.parent_id and j.attempt = r.parent_attempt
    and j.token is not null
  cross join lateral _qwf.run_outcome(r, g.outputs, s.max_value_bytes) o
  where r.id = any (p_runs) and r.parent_id is not null and r.finished_at is not null;
  if v_reports is not null then
    v_done := _qwf.end_attempts(v_reports);
  end if;
  if v_in_line is not true then
    return v_done.pending is not null;  -- the usual case
  end if;
  with over as materialized (  -- in line, not steps of a run
    select r.id, r.status, r.parent_id, r.error
    from qwf.runs r join qwf.jobs j on j.id = r.parent_id and j.run_id is null
    where r.id = any (p_runs) and r.finished_at is not null
  ), free as (
    select j.id, o.id as run_id, o.status, o.error, exists (
        select from qwf.jobs b where b.run_id = o.id and b.finished_at is null) as stops
    from over o join qwf.jobs j on j.id = o.parent_id
    where j.status in ('queued', 'scheduled')
    for no key update of j skip locked
  ), taken as (
    update qwf.jobs j set status = 'cancelled', finished_at = v_now, last_error = f.error
    from free f where j.id = f.id and f.status = 'cancelled'
  ), later as (
    insert into qwf.outbox (run_id, kind, next_try_at)
    select f.run_id, 'stop', v_now + interval '5 s' from free f
    where f.status = 'failed' and f.stops
  )
  update qwf.runs r set status = 'queued', started_at = null, finished_at = null, ending = null,
    error = null, deadline_at = null
  from free f
  where r.id = f.run_id and f.status = 'failed' and not f.stops;
  return v_done.pending is not null;
end $$;

commit;
