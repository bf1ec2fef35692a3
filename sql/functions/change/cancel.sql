-- Jobs and runs cancelled. Locks: the run, its waiting events, then jobs that are free and do
-- not run; what is busy gets a request, which a tick settles.

-- Cancels a job; cancelling a node cancels its run. A waiting job is cancelled in the caller's
-- transaction. A running job gets a request in a separate table: its row is never locked here,
-- so its worker can finish it meanwhile, and the first to end it wins. A second call changes
-- nothing and notifies no one.
-- Locks: the run, for a node; the job, if it is free and not running.
-- Notifies: the worker, for a running job.
create function qwf.cancel_job(job_id bigint, reason text default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_job qwf.jobs;
  v_kind text;
begin
  perform _qwf.check_text('reason', cancel_job.reason, 4096);
  select j.* into v_job from qwf.jobs j where j.id = cancel_job.job_id;
  if not found then
    perform _qwf.raise_no_such_job(cancel_job.job_id);
  end if;
  if v_job.queue = 'qwf.runs' and v_job.run_id is null then  -- how a run waits in line
    perform qwf.cancel_run(r.id, cancel_job.reason) from qwf.runs r where r.parent_id = v_job.id;
    return case when exists (
      select from qwf.runs r where r.parent_id = v_job.id and r.finished_at is null)
      then 'requested' else 'cancelled' end;
  end if;
  perform _qwf.lock_runs(array[v_job.run_id]);
  v_kind := _qwf.cancel_waiting(v_job.id, cancel_job.reason);
  if v_kind is not null then
    if v_job.run_id is not null then
      perform _qwf.apply_events(
        _qwf.take_events(array[v_job.run_id])
        || array[(v_job.run_id, v_job.id, v_kind)::_qwf.event]);
    end if;
    return 'cancelled';
  end if;
  select j.* into v_job from qwf.jobs j where j.id = cancel_job.job_id;  -- again, after the locks
  if not found then  -- a retry of its map has deleted it
    perform _qwf.raise_no_such_job(cancel_job.job_id);
  elsif v_job.status = 'cancelled' then
    return 'cancelled';
  elsif v_job.finished_at is not null then
    raise exception using errcode = 'QW002', message = 'the job is over',
      detail = format('job %s is %s', v_job.id, v_job.status),
      hint = 'there is nothing left to cancel';
  end if;
  insert into qwf.cancel_requests (job_id, reason, requested_at)
  values (v_job.id, cancel_job.reason, qwf.now())
  on conflict do nothing;
  if found then  -- not if there is a request already
    insert into _qwf.event_log (at, run_id, job_id, kind, detail)
    values (qwf.now(), v_job.run_id, v_job.id, 'cancel_requested',
      jsonb_build_object('reason', cancel_job.reason));
    insert into qwf.outbox (run_id, kind)
    select r.id, 'stop' from qwf.runs r where r.parent_id = v_job.id and r.finished_at is null;
    perform pg_notify(qwf.wake_channel(v_job.claimed_by), 'cancel')
    where v_job.claimed_by is not null;
  end if;
  return 'requested';
end $$;
comment on function qwf.cancel_job is
  'Cancels a job. Returns cancelled, or requested if its worker has to stop the body first; QW001 '
  'no such job, QW002 it has ended, QW005 a reason of more than 4 KiB.';
call _qwf.allow('qwf.cancel_job', 'qwf_producer');

-- Cancels a run. Nodes that do not run are cancelled in the caller's transaction; running bodies
-- are told once it commits, and killed after a grace period. The row of a running job is never
-- locked, however long the transaction stays open. Clean-up nodes (run_if all_done) of a run
-- that has started still run. A run in line keeps its place until its bodies have ended; if it
-- waits there, so does its compensation (see _end_run). A second call changes nothing.
-- Locks: the run, its waiting events; its nodes that are free and not running.
-- Notifies: workers that run a node of it.
create function qwf.cancel_run(run_id bigint, reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_run qwf.runs;
begin
  perform _qwf.check_text('reason', cancel_run.reason, 4096);
  perform _qwf.lock_runs(array[cancel_run.run_id]);
  select r.* into v_run from qwf.runs r where r.id = cancel_run.run_id;
  if not found then
    perform _qwf.raise_no_such_run(cancel_run.run_id);
  elsif v_run.status = 'cancelled' or (v_run.finished_at is null and v_run.ending is not null) then
    return false;
  elsif v_run.finished_at is not null then
    raise exception using errcode = 'QW002', message = 'the run is over',
      detail = format('run %s is %s', v_run.id, v_run.status),
      hint = 'there is nothing left to cancel';
  end if;
  if v_run.then_retry is not null or exists (
    select from qwf.jobs j
    where j.id = v_run.parent_id and j.run_id is null
      and j.inputs ?| array['context', 'graph_id'])
  then
    raise notice using message = format('the retry of run %s had not begun', v_run.id),
      detail = 'it keeps the definitions and the context that it has run with',
      hint = 'give them again with its next retry';
  end if;
  update qwf.runs r set then_retry = null  -- all is taken back, as of any run
  where r.id = v_run.id and r.then_retry is not null;
  perform _qwf.end_run(
    v_run.id, 'cancelled',
    'cancelled by ' || _qwf.spell_who(session_user, _qwf.acting_for())
      || coalesce(': ' || cancel_run.reason, ''));
  insert into _qwf.event_log (at, run_id, kind, detail)
  values (v_now, v_run.id, 'cancelled', jsonb_build_object('reason', cancel_run.reason));
  perform _qwf.apply_events(
    _qwf.take_events(array[v_run.id]) || array[(v_run.id, null, 'stop')::_qwf.event]);
  return true;
end $$;
comment on function qwf.cancel_run is
  'Cancels a run except its clean-up nodes. Returns true, or false if it is cancelled or ending '
  'already; QW001 no such run, QW002 it is completed or failed, QW005 a reason of more than 4 KiB.';
call _qwf.allow('qwf.cancel_run', 'qwf_producer');

-- Settles requests to cancel jobs that are no longer running. A request that committed while its
-- job was requeued or ended is neither lost nor kept forever, nor is what else was written about
-- a job that has left no row. A request that cannot be settled does not stop the others.
-- Locks: requests, runs and jobs that are free.
create function _qwf.settle_cancel_requests() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_request record;
  v_kind text;
  v_count int := 0;
begin
  for v_request in
    select c.job_id, c.reason, j.id is null as gone, j.run_id, j.finished_at
    from qwf.cancel_requests c left join qwf.jobs j on j.id = c.job_id
    where j.id is null or j.status <> 'running'
    limit 100
    for no key update of c skip locked
  loop
    begin
      if v_request.gone then  -- its queue keeps no completed jobs
        perform _qwf.delete_jobs(array[v_request.job_id]);
      elsif v_request.finished_at is null then
        -- a node changes only under the lock of its run
        perform from qwf.runs r where r.id = v_request.run_id for no key update skip locked;
        continue when v_request.run_id is not null and not found;
        v_kind := _qwf.cancel_waiting(v_request.job_id, v_request.reason);
        continue when v_kind is null;
        if v_request.run_id is not null then
          perform _qwf.apply_events(_qwf.take_events(array[v_request.run_id])
            || array[(v_request.run_id, v_request.job_id, v_kind)::_qwf.event]);
        end if;
      end if;
      delete from qwf.cancel_requests c where c.job_id = v_request.job_id;
      v_count := v_count + 1;
    exception
      when others then
        raise warning using message = format('job %s cannot be cancelled', v_request.job_id),
          detail = sqlstate || ' ' || sqlerrm;
    end;
  end loop;
  return v_count;
end $$;
