-- Deploy qwf:functions/upkeep/prune
-- Purpose: Deletes what has been over for longer than the retention.
-- Guarantees: Never touches what is live, has a body that still runs, or has events to apply.
--   Waits for nobody. Attempts, events, answers and files go with their job, and nothing else ever
--   deletes them. Statistics stay.
-- Locks: terminal runs and jobs, workers, those that are free.
-- Raises: QW005 for a negative bound.
-- Called by: tick, operators.

begin;

create function qwf.prune(max_rows int default 1000) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_count('max_rows', prune.max_rows);
  return jsonb_build_object(
    'runs', _qwf.prune_runs(prune.max_rows),
    'jobs', _qwf.prune_jobs(prune.max_rows),
    'events', _qwf.prune_events(prune.max_rows),
    'workers', _qwf.prune_workers(prune.max_rows));
end $$;
comment on function qwf.prune is
  'Deletes terminal runs with about max_rows nodes, and at most max_rows terminal standalone jobs, '
  'events and workers, that are older than the retention; returns how many of each.';
call _qwf.allow('qwf.prune', 'qwf_worker');

commit;
