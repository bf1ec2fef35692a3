-- Deploy qwf:functions/change/change_jobs
-- Purpose: Changes priority, queue, limit or time of many waiting jobs, or puts them before all
--   others.
-- Guarantees: One row for each job of the list. A job that does not wait, or is being claimed, is
--   refused and does not keep the others from being changed. A null argument changes nothing; an
--   empty limit_by takes the jobs out of their limit. What is wrong with an argument is raised, and
--   nothing changes.
-- Locks: the new limit, against being dropped; the jobs that are free, by id. Waits for no claim.
-- Notifies: sleepers of the queues.

begin;

create function qwf.change_jobs(
  jobs bigint[], priority int default null, queue text default null,
  run_at timestamptz default null, run_next boolean default false,
  limit_by text default null)
returns setof qwf.job_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_next boolean := coalesce(change_jobs.run_next, false);
  v_changed bigint[];
begin
  perform _qwf.check_listed(change_jobs.jobs);
  perform _qwf.check_change(change_jobs.jobs, change_jobs.queue, change_jobs.run_at, v_next,
    change_jobs.limit_by);
  if num_nonnulls(change_jobs.priority, change_jobs.queue, change_jobs.run_at,
    change_jobs.limit_by) = 0 and not v_next
  then
    raise exception using errcode = 'QW005', message = 'nothing to change',
      detail = 'priority, queue, run_at and limit_by are null, and run_next is not true',
      hint = 'give at least one of them';
  end if;
  v_changed := _qwf.change_waiting(change_jobs.jobs, change_jobs.priority, change_jobs.queue,
    change_jobs.run_at, v_next, change_jobs.limit_by);
  return query
    select u.id, 'changed', null::text, null::text, null::text, null::text
    from unnest(v_changed) u (id);
  return query select * from _qwf.refusals('change', change_jobs.jobs, v_changed);
end $$;
comment on function qwf.change_jobs is
  'Changes priority, queue, run_at or limit_by ('''': none) of at most 1000 queued or scheduled '
  'jobs, or makes them the next of their queues, and returns a verdict for each: changed or '
  'refused; a refused job does not stop the others. QW001 no such limit, QW005 too many jobs, '
  'invalid time or nothing to change, QW006 unknown queue.';
call _qwf.allow('qwf.change_jobs', 'qwf_producer');

commit;
