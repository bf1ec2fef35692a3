-- Cancel and retry for lists, with a verdict for each item. Locks: the runs of all nodes, by id,
-- then each job or run as alone.

create type qwf.run_verdict as (
  run_id bigint, verdict text, code text, message text, detail text, hint text);
comment on type qwf.run_verdict is
  'Answer about one run of a list: retried, cancelled, unchanged (it is cancelled or ending '
  'already) or refused; code (SQLSTATE), message, detail and hint say why it was refused.';

-- Cancels many jobs, each as cancel_job does. One row for each job of the list. A job that is
-- refused does not keep the others from being cancelled, and undoes none of them. All runs are
-- locked before the first job is touched, and requests are written by job id, so two calls
-- cannot deadlock, however their lists are ordered.
-- Locks: the runs of all nodes, by id; then for each job, by id, as cancel_job.
-- Notifies: the workers of running jobs.
create function qwf.cancel_jobs(jobs bigint[], reason text default null)
returns setof qwf.job_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_found bigint[];
  v_job bigint;
begin
  perform _qwf.check_text('reason', cancel_jobs.reason, 4096);
  v_found := _qwf.lock_listed(cancel_jobs.jobs);
  foreach v_job in array v_found loop
    return next _qwf.try_job('cancel', v_job, cancel_jobs.reason);
  end loop;
  return query select * from _qwf.refusals('cancel', cancel_jobs.jobs, v_found);
end $$;
comment on function qwf.cancel_jobs is
  'Cancels at most 1000 jobs, each as cancel_job does, and returns a verdict for each: cancelled, '
  'requested or refused; a refused job does not stop the others. QW005 too many jobs, or a reason '
  'of more than 4 KiB.';
call _qwf.allow('qwf.cancel_jobs', 'qwf_producer');

-- Checks a list of jobs, locks their runs, and returns those that exist. No other job may be
-- changed by the caller: the run of a job that is not returned is not locked, and locking it
-- later would break the order of locks.
-- Locks: runs, by id.
-- Raises: QW005 for a list of more than 1000 jobs, or with a null in it.
create function _qwf.lock_listed(p_jobs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_jobs bigint[];
  v_runs bigint[];
begin
  perform _qwf.check_listed(p_jobs);
  select coalesce(array_agg(j.id order by j.id), '{}'), array_agg(distinct j.run_id)
  into v_jobs, v_runs
  from qwf.jobs j
  where j.id = any (p_jobs);
  perform _qwf.lock_runs(v_runs);
  return v_jobs;
end $$;

-- Refuses a list of jobs that is too long, or has a null in it.
-- Raises: QW005.
create function _qwf.check_listed(p_jobs bigint[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_jobs) > 1000 then
    raise exception using errcode = 'QW005', message = 'too many jobs',
      detail = format('jobs has %s ids, at most 1000', cardinality(p_jobs)),
      hint = 'call it once for each 1000 jobs';
  elsif exists (select from unnest(p_jobs) u where u is null) then
    raise exception using errcode = 'QW005', message = 'null is not the id of a job',
      detail = 'jobs has a null', hint = 'leave it out';
  end if;
end $$;

-- Cancels or retries one job of a list, and returns the verdict. A refusal changes nothing and
-- does not stop the caller. An error that a later try may not meet does. A failed or cancelled
-- node is retried through its run, which runs all its failed and cancelled nodes again; none of
-- them is named, so a map keeps its completed elements, and a body that runs at most once and
-- may have run does not run again.
-- Locks: expects the run of the job locked by the caller, or, for retry, the job if it has no
--   run.
-- Raises: errors that pass (see _is_passing_error), 57014.
create function _qwf.try_job(p_verb text, p_job bigint, p_reason text default null)
returns qwf.job_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_verdict qwf.job_verdict;
  v_run_id bigint;
begin
  v_verdict.job_id := p_job;
  if p_verb = 'cancel' then
    v_verdict.verdict := qwf.cancel_job(p_job, p_reason);
    return v_verdict;
  end if;
  select j.run_id into v_run_id from qwf.jobs j where j.id = p_job;
  if v_run_id is null and exists (select from qwf.jobs j where j.id = p_job and j.begun) then
    raise exception using errcode = 'QW002', message = 'it may have run',
      detail = format('job %s runs at most once', p_job),
      hint = format('look whether it has run; if it has not, retry it by its id: '
        'select qwf.retry_job(%s)', p_job);
  elsif v_run_id is null then
    perform qwf.retry_job(p_job);
  else
    perform qwf.retry_run(v_run_id);
  end if;
  v_verdict.verdict := 'retried';
  return v_verdict;
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    end if;
    v_verdict := (p_job, 'refused', sqlstate, sqlerrm, null, null)::qwf.job_verdict;
    get stacked diagnostics
      v_verdict.detail = pg_exception_detail, v_verdict.hint = pg_exception_hint;
    return v_verdict;
end $$;

-- Returns a verdict for each job of a list that has none yet: there is no such job, or it is not
-- in a state that the verb can change.
create function _qwf.refusals(p_verb text, p_jobs bigint[], p_answered bigint[])
returns setof qwf.job_verdict
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return query
    select u.id, 'refused',
      case when j.id is null then 'QW001' else 'QW002' end,
      case when j.id is null then 'no such job'
        when p_verb = 'change' then 'the job is not waiting in a queue'
        else 'the job has not failed or been cancelled' end,
      case when j.id is null then format('job %s', u.id)
        when p_verb = 'change' and j.queue like 'qwf.%' and j.status in ('queued', 'scheduled')
          then format('job %s is on the queue %s of the engine, or is being changed', u.id, j.queue)
        when p_verb = 'change' and j.status in ('queued', 'scheduled')
          then format('job %s is being claimed or changed', u.id)
        else format('job %s is %s', u.id, j.status) end,
      case when j.id is null
          then 'ended jobs are deleted after their retention; '
            'who has the role qwf_viewer lists jobs: select * from qwf.recent_jobs'
        when p_verb = 'change' then 'only queued and scheduled jobs can be changed'
        when j.finished_at is null then 'it is not over: ask why_not() what it waits for'
        when j.run_id is null then 'enqueue it again to run it a second time'
        else format('to run its run again from there: select qwf.retry_run(%s, %L)',
          j.run_id, j.node_id) end
    from (select distinct unnest(p_jobs) as id) u
    left join qwf.jobs j on j.id = u.id
    where u.id <> all (p_answered)
    order by u.id;
end $$;

-- Runs many failed or cancelled jobs again; nodes through their runs, each run once. Returns one
-- row for each job of the list; a job that is refused keeps no other from being retried. Keys
-- are taken in the order in which enqueue_many takes them, those of runs before those of jobs,
-- so that callers with the same keys cannot deadlock.
-- Locks: the runs of all nodes, by id; the failed and cancelled standalone jobs, by id; then as
--   retry_job and retry_run.
-- Notifies: sleepers of the queues that got work.
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

-- Cancels many runs, each as cancel_run does. One row for each run of the list. A run that is
-- refused does not keep the others from being cancelled, and undoes none of them. All runs are
-- locked before the first is changed, so two calls cannot deadlock, however their lists are
-- ordered.
-- Locks: the runs, by id; then for each run as cancel_run.
-- Notifies: workers that run a node of one of them.
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

-- Cancels or retries each run of a list, and returns a verdict for each. A refusal changes
-- nothing and does not stop the others. A run that is made after the others were locked is not
-- touched: to lock it later would break the order of locks. Runs are changed in the order of
-- their keys, in which enqueue_many takes keys; the runs are locked by then, so their order no
-- longer matters.
-- Locks: the runs, by id; then as cancel_run or retry_run.
-- Raises: QW005 for a list of more than 1000 runs, or with a null in it; errors that a later try
--   may not meet (see _is_passing_error), 57014.
create function _qwf.change_runs(p_verb text, p_runs bigint[], p_reason text default null)
returns setof qwf.run_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_locked bigint[];
  v_verdict qwf.run_verdict;
begin
  if cardinality(p_runs) > 1000 then
    raise exception using errcode = 'QW005', message = 'too many runs',
      detail = format('runs has %s ids, at most 1000', cardinality(p_runs)),
      hint = 'call it once for each 1000 runs';
  elsif exists (select from unnest(p_runs) u where u is null) then
    raise exception using errcode = 'QW005', message = 'null is not the id of a run',
      detail = 'runs has a null', hint = 'leave it out';
  end if;
  v_locked := _qwf.lock_runs(p_runs);
  for v_verdict.run_id in
    select r.id from qwf.runs r where r.id = any (v_locked)
    order by r.project, r.workflow, r.key, r.id
  loop
    begin
      if p_verb = 'retry' then
        perform qwf.retry_run(v_verdict.run_id);
        v_verdict.verdict := 'retried';
      else
        v_verdict.verdict := case
          when qwf.cancel_run(v_verdict.run_id, p_reason) then 'cancelled' else 'unchanged' end;
      end if;
      return next (v_verdict.run_id, v_verdict.verdict, null, null, null, null)::qwf.run_verdict;
    exception
      when others then
        if _qwf.is_passing_error(sqlstate) then
          raise;
        end if;
        get stacked diagnostics
          v_verdict.detail = pg_exception_detail, v_verdict.hint = pg_exception_hint;
        return next (v_verdict.run_id, 'refused', sqlstate, sqlerrm, v_verdict.detail,
          v_verdict.hint)::qwf.run_verdict;
    end;
  end loop;
  return query
    select u.id, 'refused', 'QW001', 'no such run', format('run %s', u.id),
      'ended runs are deleted after their retention; list runs: select * from qwf.run_overview'
    from (select distinct unnest(p_runs) as id) u
    where u.id <> all (v_locked)
    order by u.id;
end $$;

-- Runs the failed and cancelled nodes of many runs again, each run as retry_run does. One row
-- for each run of the list. A run that is refused does not keep the others from being retried,
-- and undoes none of them. Keys are taken again in the order in which enqueue_many takes them,
-- so that callers with the same keys cannot deadlock.
-- Locks: the runs, by id; then for each run as retry_run.
-- Notifies: sleepers of the queues that got work.
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
