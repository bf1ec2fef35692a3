-- Deploy qwf:functions/upkeep/prune
-- Purpose: Deletes runs, jobs, events and workers older than the retention, and the minutes of
--   hosts and queues older than settings.minutes_keep.
-- Guarantees: Never deletes what is live, has a running body, or has events to apply. Waits for
--   nobody. Attempts, events, answers and files are deleted with their job, and nothing else ever
--   deletes them. Live logs that nobody follows are deleted. Statistics by the hour stay.
-- Locks: terminal runs and jobs, workers and minutes, that nobody else has locked.
-- Raises: QW005 for a negative bound.
-- Called by: _rest_when_idle, operators.

begin;

create function qwf.prune(max_rows int default 1000) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_count('max_rows', prune.max_rows);
  perform _qwf.forget_logs(qwf.now());
  return jsonb_build_object(
    'runs', _qwf.prune_runs(prune.max_rows),
    'jobs', _qwf.prune_jobs(prune.max_rows),
    'events', _qwf.prune_events(prune.max_rows),
    'workers', _qwf.prune_workers(prune.max_rows),
    'minutes', _qwf.prune_minutes(prune.max_rows));
end $$;
comment on function qwf.prune is
  'Deletes what is older than the retention: ended runs with about max_rows nodes in all, and at '
  'most max_rows each of ended standalone jobs, events and workers; also minutes older than '
  'minutes_keep, at most max_rows each of hosts and queues. Returns how many of each.';
call _qwf.allow('qwf.prune', 'qwf_worker');

commit;
