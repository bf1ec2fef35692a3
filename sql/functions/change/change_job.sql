-- Deploy qwf:functions/change/change_job
-- Purpose: Changes priority, queue or time of a waiting job, or puts it before all others.
-- Guarantees: A null argument changes nothing. A run_at in the future makes the job scheduled, one
--   in the past makes it queued. With run_next it is due now and the next of its queue, until it is
--   claimed; its priority stays.
-- Locks: the job, if it is free.
-- Notifies: a sleeper of the queue.

begin;

create function qwf.change_job(
  job_id bigint, priority int default null, queue text default null,
  run_at timestamptz default null, run_next boolean default false)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_next boolean := coalesce(change_job.run_next, false);
begin
  perform _qwf.check_change(change_job.queue, change_job.run_at, v_next);
  if _qwf.change_waiting(array[change_job.job_id], change_job.priority, change_job.queue,
    change_job.run_at, v_next) = '{}' then
    perform _qwf.raise_not_waiting(change_job.job_id);
  end if;
end $$;
comment on function qwf.change_job is
  'Changes priority, queue or run_at of a queued or scheduled job, or makes it the next of its '
  'queue; QW001 no such job, QW002 it is not waiting, QW005 invalid time, QW006 unknown queue.';
call _qwf.allow('qwf.change_job', 'qwf_producer');

commit;
