-- A job that has ended is queued again. Locks: the job, its limit, and the firings that enqueued
-- it; for a node, those of a retry of its run.

-- Runs a failed or cancelled job again, with new arguments if some are given. Its budgets start
-- again, its history stays; its event has the arguments that new ones replace, read under its
-- lock. It waits again, as a new job of its key would. A node is retried through its run, and
-- takes its inputs from there. A job that has not ended is not locked, so its worker can report
-- meanwhile.
-- Locks: the job, if it has failed or been cancelled, its limit, against being dropped, and the
--   firings of schedules that enqueued it; for a node as retry_run.
-- Notifies: a sleeper of the queue.
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
    last_error = null, begun = case when j.begun is not null then false end
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

-- Refuses new arguments of a job that is retried which enqueue would refuse, and any for a node
-- and for a job of the engine: a message of an alert says what the engine wrote.
-- Raises: QW005, QW007.
create function _qwf.check_retry_args(p_job qwf.jobs, p_args jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_args is null then
    return;
  elsif p_job.run_id is not null then
    raise exception using errcode = 'QW005',
      message = 'a node takes its inputs from its workflow',
      detail = format('job %s is node %s of run %s', p_job.id, p_job.node_id, p_job.run_id),
      hint = 'leave args out, or enqueue a new run with another context';
  elsif starts_with(p_job.task, 'qwf.') or starts_with(p_job.queue, 'qwf.') then
    raise exception using errcode = 'QW007', message = 'a job of the engine keeps its arguments',
      detail = format('job %s is of task %s', p_job.id, p_job.task), hint = 'leave args out';
  elsif jsonb_typeof(p_args) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid job',
      detail = 'args: a JSON object',
      hint = 'correct the value and retry again; nothing was written';
  end if;
  perform _qwf.check_json('args', p_args, s.max_value_bytes) from qwf.settings s;
end $$;

-- Refuses to run erased jobs again: what they would be given is gone.
-- Locks: expects the jobs or their run locked by the caller; erase holds the same locks.
-- Raises: QW002.
create function _qwf.refuse_erased(p_jobs bigint[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j
  where j.id = any (p_jobs) and j.erased_parts is not null
  order by j.id limit 1;
  if found then
    raise exception using errcode = 'QW002', message = 'erased',
      detail = format('job %s, erased: %s', v_job.id, array_to_string(v_job.erased_parts, ', ')),
      hint = 'its arguments are gone: enqueue a new one';
  end if;
end $$;
