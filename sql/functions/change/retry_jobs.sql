-- Deploy qwf:functions/change/retry_jobs
-- Purpose: Runs many failed or cancelled jobs again; nodes through their runs, each run once.
-- Guarantees: One row for each job of the list. A job that is refused does not keep the others from
--   being retried, and undoes none of them. A job that has not failed or been cancelled, perhaps
--   because somebody has retried it meanwhile, is refused and not locked. Keys are taken again in
--   the order in which enqueue_many takes them, those of runs before those of jobs, so that callers
--   with the same keys cannot deadlock.
-- Locks: the runs of all nodes, by id; the failed and cancelled standalone jobs, by id; then as
--   retry_job and retry_run.
-- Notifies: sleepers of the queues that got work.

begin;

create function qwf.retry_jobs(jobs bigint[]) returns setof qwf.job_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_found bigint[] := _qwf.lock_listed(retry_jobs.jobs);
  v_locked bigint[];  -- standalone ones; one that fails from now on is left alone
  v_tried bigint[] := '{}';
  v_group record;
  v_verdict qwf.job_verdict;
begin
  v_locked := array(
    select j.id from qwf.jobs j
    where j.id = any (v_found) and j.run_id is null and j.status in ('failed', 'cancelled')
    order by j.id
    for no key update);
  for v_group in
    select min(j.id) as first, array_agg(j.id order by j.id) as ids
    from qwf.jobs j left join qwf.runs r on r.id = j.run_id
    where j.id = any (v_locked)
      or j.id = any (v_found) and j.run_id is not null and j.status in ('failed', 'cancelled')
    group by coalesce(r.project, j.project), coalesce(r.workflow, j.task),
      case when j.run_id is null then j.key else r.key end, j.run_id,
      case when j.run_id is null then j.id end
    order by j.run_id is null, coalesce(r.project, j.project), coalesce(r.workflow, j.task),
      case when j.run_id is null then j.key else r.key end, min(j.id)
  loop
    v_verdict := _qwf.try_job('retry', v_group.first);
    v_tried := v_tried || v_group.ids;
    return query
      select i, v_verdict.verdict, v_verdict.code, v_verdict.message, v_verdict.detail,
        v_verdict.hint
      from unnest(v_group.ids) i;
  end loop;
  return query select * from _qwf.refusals('retry', retry_jobs.jobs, v_tried);
end $$;
comment on function qwf.retry_jobs is
  'Queues at most 1000 failed or cancelled jobs again and returns a verdict for each: retried or '
  'refused; nodes through their runs, each run once, with all its failed nodes. A refused job does '
  'not stop the others. QW005 too many jobs.';
call _qwf.allow('qwf.retry_jobs', 'qwf_producer');

commit;
