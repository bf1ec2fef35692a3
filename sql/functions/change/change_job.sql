-- Deploy qwf:functions/change/change_job
-- Purpose: Changes priority, queue or time of a waiting job.
-- Guarantees: A null argument changes nothing. A run_at in the future makes the job scheduled, one
--   in the past makes it queued.
-- Locks: the job, if it is free.
-- Notifies: a sleeper of the queue.
-- Raises: QW001 no such job, QW002 it is not waiting, QW005 invalid time, QW006 unknown queue.
-- Called by: producers, operators.

begin;

create function qwf.change_job(
  job_id bigint, priority int default null, queue text default null,
  run_at timestamptz default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_job qwf.jobs := _qwf.waiting_job(change_job.job_id);
  v_later boolean := coalesce(change_job.run_at,
    case when v_job.status = 'scheduled' then v_job.run_at end) > v_now;
begin
  if not _qwf.is_readable_time(change_job.run_at) then
    raise exception using errcode = 'QW005', message = 'invalid time',
      detail = format('run_at: %s', change_job.run_at),
      hint = 'give a time within the years 1 to 9999, or infinity';
  end if;
  if change_job.queue is not null
    and not exists (select from qwf.queues q where q.name = change_job.queue) then
    perform _qwf.raise_unknown_queue(change_job.queue);
  end if;
  v_later := coalesce(v_later, false)  -- promote_due opens a guarded node
    or (v_job.status = 'scheduled' and v_job.guarded and v_job.attempt = 0);
  update qwf.jobs j set
    priority = coalesce(change_job.priority, j.priority),
    queue = case when j.queue is null then null else coalesce(change_job.queue, j.queue) end,
    run_at = coalesce(change_job.run_at, j.run_at),
    status = case when v_later then 'scheduled' else 'queued' end::qwf.job_status,
    position = case when v_later then null when j.status = 'queued' then j.position
      else _qwf.next_position() end,
    -- kept if the job is moved to later: an element that had a slot of max_parallel keeps it
    queued_at = case when not v_later and j.status = 'scheduled' then v_now
      when v_later then j.queued_at else coalesce(j.queued_at, v_now) end
  where j.id = v_job.id;
  insert into qwf.job_events (at, run_id, job_id, type, actor, detail)
  values (v_now, v_job.run_id, v_job.id, 'changed', _qwf.actor(),
    jsonb_strip_nulls(jsonb_build_object('priority', change_job.priority,
      'queue', change_job.queue, 'run_at', change_job.run_at)));
  if not v_later then
    perform _qwf.wake(coalesce(change_job.queue, v_job.queue), 1);
  end if;
end $$;
comment on function qwf.change_job is
  'Changes priority, queue or run_at of a queued or scheduled job; QW001 no such job, QW002 it '
  'is not waiting, QW005 invalid time, QW006 unknown queue.';
call _qwf.allow('qwf.change_job', 'qwf_producer');

commit;
