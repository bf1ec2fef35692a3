-- Deploy qwf:functions/change/retry_job
-- Purpose: Runs a failed or cancelled job again, with new arguments if some are given.
-- Guarantees: Its budgets start again, its history stays; its event has the arguments that new ones
--   replace, read under its lock. It waits again, as a new job of its key would. A node is retried
--   through its run, and takes its inputs from there. A job that has not ended is not locked, so
--   its worker can report meanwhile.
-- Locks: the job, if it has failed or been cancelled, its limit, against being dropped, and the
--   firings of schedules that enqueued it; for a node as retry_run.
-- Notifies: a sleeper of the queue.

begin;

create function qwf.retry_job(job_id bigint, args jsonb default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j where j.id = retry_job.job_id;
  perform _qwf.check_retry_args(v_job, retry_job.args);
  if v_job.run_id is not null or v_job.queue = 'qwf.runs' then  -- that queue: a run in line
    perform qwf.retry_run(
      coalesce(v_job.run_id, (select r.id from qwf.runs r where r.parent_id = v_job.id)),
      v_job.node_id);
    return;
  end if;
  select j.* into v_job
  from qwf.jobs j
  where j.id = retry_job.job_id and j.status in ('failed', 'cancelled')
  for no key update;
  if not found then
    select j.* into v_job from qwf.jobs j where j.id = retry_job.job_id;
    if not found then
      perform _qwf.raise_no_such_job(retry_job.job_id);
    end if;
    raise exception using errcode = 'QW002', message = 'the job has not failed or been cancelled',
      detail = format('job %s is %s', v_job.id, v_job.status),
      hint = case when v_job.finished_at is null
        then 'it is not over: ask why_not() what it waits for'
        else 'enqueue it again to run it a second time' end;
  end if;
  perform _qwf.refuse_erased(array[v_job.id]);
  perform _qwf.lock_limits(v_job.limit_by);
  perform _qwf.check_limit('', v_job.limit_by);
  delete from qwf.cancel_requests c where c.job_id = v_job.id;
  update qwf.jobs j set
    key_state = case j.key_state when 's' then 'w' else j.key_state end,
    status = 'queued', position = _qwf.next_position(), queued_at = qwf.now(),
    retries = j.retries + 1, failures = 0, losses = 0,
    inputs = coalesce(retry_job.args, j.inputs), run_at = null,
    options.start_by = null, finished_at = null,
    expires_at = null, input_spec = null, avoid_host = null, avoid_until = null,
    last_error = null, last_exit_code = null,
    begun = case when j.begun is not null then false end
  where j.id = v_job.id;
  if _qwf.started_with_key(v_job.project, v_job.task, v_job.key, true) is not null then
    raise unique_violation;
  end if;
  update qwf.firings f set result = null, ended_at = null, reopened = true
  where f.job_id = v_job.id;
  insert into _qwf.event_log (at, job_id, kind, detail)
  values (qwf.now(), v_job.id, 'retried',
    case when retry_job.args <> v_job.inputs then jsonb_build_object('old_args', v_job.inputs)
      else '{}' end);
  perform _qwf.wake(v_job.queue, 1);
exception
  when unique_violation then
    raise exception using errcode = 'QW008', message = 'the key of the job is taken',
      detail = format('key %L of task %s in project %L', v_job.key, v_job.task, v_job.project),
      hint = 'another job with this key is live: wait for it or cancel it, then retry';
end $$;
comment on function qwf.retry_job is
  'Queues a failed or cancelled job again, with other arguments if args is given: the old ones are '
  'in its event retried, as old_args. A node is retried through its run, and takes no args. QW001 '
  'no such job, QW002 it has not failed or is erased, QW005 args that no job can have, QW007 args '
  'for a message of an alert or a run in line, QW008 its key is taken.';
call _qwf.allow('qwf.retry_job', 'qwf_producer');

commit;
