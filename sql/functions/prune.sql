-- Deploy qwf:functions/prune
-- requires: schema/roles
-- requires: schema/workers
-- requires: schema/settings
-- requires: functions/_prune_runs
-- requires: functions/_prune_jobs
-- requires: functions/now
-- Purpose: Deletes what has been over for longer than the retention.
-- Guarantees: Never touches what is live, has a body that still runs, or has events to apply.
--   Bounded by what it looks at, and goes round. Attempts, events, answers and files go with their
--   job.
-- Locks: terminal runs and jobs, those that are free.
-- Called by: tick, operators.

begin;

create function qwf.prune(max_rows int default 1000) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_runs int;
  v_jobs int;
  v_workers int;
begin
  v_runs := qwf._prune_runs(prune.max_rows);
  v_jobs := qwf._prune_jobs(prune.max_rows);
  delete from qwf.workers w
  using (
    select g.id
    from qwf.workers g cross join qwf.settings s
    where g.last_seen < v_now - s.retention
    limit prune.max_rows
    for update of g skip locked
  ) gone
  where w.id = gone.id;
  get diagnostics v_workers = row_count;
  return jsonb_build_object('runs', v_runs, 'jobs', v_jobs, 'workers', v_workers);
end $$;
comment on function qwf.prune(int) is
  'Looks at max_rows runs, jobs and workers each, where it stopped the last time, and deletes '
  'those older than the retention; returns how many of each.';
revoke all on function qwf.prune(int) from public;
call qwf._allow('qwf.prune(int)', 'qwf_worker');

commit;
