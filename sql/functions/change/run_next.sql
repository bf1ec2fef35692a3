-- Deploy qwf:functions/change/run_next
-- Purpose: Puts a job before all others in its queue.
-- Guarantees: Its priority does not change; the flag is cleared when it is claimed. A scheduled job
--   becomes due now.
-- Locks: the job, if it is free.
-- Notifies: a sleeper of the queue.
-- Raises: QW001 no such job, QW002 it is not waiting.
-- Called by: operators.

begin;

create function qwf.run_next(job_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_job qwf.jobs := _qwf.waiting_job(run_next.job_id);
begin
  update qwf.jobs j set
    run_next = true,
    run_at = case when j.guarded and j.attempt = 0 and j.status = 'scheduled'
      then qwf.now() else j.run_at end,
    status = case when j.guarded and j.attempt = 0 then j.status else 'queued' end,
    -- a job that waits for its next attempt has lost its position, one at the front too
    position = case when j.status = 'queued' then j.position else _qwf.next_position() end,
    queued_at = case when j.status = 'scheduled' then qwf.now() else j.queued_at end
  where j.id = v_job.id;
  insert into qwf.job_events (at, run_id, job_id, type, actor, detail)
  values (qwf.now(), v_job.run_id, v_job.id, 'changed', _qwf.actor(), '{"run_next": true}');
  perform _qwf.wake(v_job.queue, 1);
end $$;
comment on function qwf.run_next is
  'Makes a queued or scheduled job the next of its queue; QW001 no such job, QW002 it is not '
  'waiting.';
call _qwf.allow('qwf.run_next', 'qwf_producer');

commit;
