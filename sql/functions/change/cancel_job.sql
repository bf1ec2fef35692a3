-- Deploy qwf:functions/change/cancel_job
-- Purpose: Cancels a job; cancelling a node cancels its run.
-- Guarantees: A waiting job is cancelled in the caller's transaction. A running job gets a request
--   in a separate table: its row is never locked here, so its worker can finish it meanwhile, and
--   the first to end it wins. A second call changes nothing and notifies no one.
-- Locks: the run, for a node; the job, if it is free and not running.
-- Notifies: the worker, for a running job.

begin;

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

commit;
