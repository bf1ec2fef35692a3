-- Deploy qwf:functions/change/cancel_runs
-- Purpose: Cancels many runs, each as cancel_run does.
-- Guarantees: One row for each run of the list. A run that is refused does not keep the others from
--   being cancelled, and undoes none of them. All runs are locked before the first is changed, so
--   two calls cannot deadlock, however their lists are ordered.
-- Locks: the runs, by id; then for each run as cancel_run.
-- Notifies: workers that run a node of one of them.

begin;

create function qwf.cancel_runs(runs bigint[], reason text default null)
returns setof qwf.run_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  perform _qwf.check_text('reason', cancel_runs.reason, 4096);
  return query
    select v.* from _qwf.change_runs('cancel', cancel_runs.runs, cancel_runs.reason) v;
end $$;
comment on function qwf.cancel_runs is
  'Cancels at most 1000 runs, each as cancel_run does, and returns a verdict for each: cancelled, '
  'unchanged or refused; a refused run does not stop the others. QW005 too many runs, or a reason '
  'of more than 4 KiB.';
call _qwf.allow('qwf.cancel_runs', 'qwf_producer');

commit;
