-- Deploy qwf:functions/change/retry_runs
-- Purpose: Runs the failed and cancelled nodes of many runs again, each run as retry_run does.
-- Guarantees: One row for each run of the list. A run that is refused does not keep the others from
--   being retried, and undoes none of them. Keys are taken again in the order in which enqueue_many
--   takes them, so that callers with the same keys cannot deadlock.
-- Locks: the runs, by id; then for each run as retry_run.
-- Notifies: sleepers of the queues that got work.

begin;

create function qwf.retry_runs(runs bigint[]) returns setof qwf.run_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  return query select v.* from _qwf.change_runs('retry', retry_runs.runs) v;
end $$;
comment on function qwf.retry_runs is
  'Retries at most 1000 runs, each as retry_run does, and returns a verdict for each: retried or '
  'refused; a refused run does not stop the others. QW005 too many runs.';
call _qwf.allow('qwf.retry_runs', 'qwf_producer');

commit;
