-- Deploy qwf:functions/change/change_job
-- Purpose: Changes priority, queue, limit or time of a waiting job, or puts it before all others;
--   or names the receiver that hears of a job or run that is not over.
-- Guarantees: A null argument changes nothing; an empty limit_by takes the job out of its limit. A
--   run_at in the future makes the job scheduled, one in the past makes it queued. With run_next it
--   is due now and the next of its queue, until it is claimed; its priority stays. notify alone
--   does not need a job that waits; of a node it is that of its run; an empty text removes it.
-- Locks: the new limit, against being dropped; for notify the run, or the job; then the job, if it
--   is free.
-- Notifies: a sleeper of the queue.

begin;

create function qwf.change_job(
  job_id bigint, priority int default null, queue text default null,
  run_at timestamptz default null, run_next boolean default false, notify text default null,
  limit_by text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_next boolean := coalesce(change_job.run_next, false);
begin
  perform _qwf.check_change(array[change_job.job_id], change_job.queue, change_job.run_at, v_next,
    change_job.limit_by);
  if change_job.notify is not null then
    perform _qwf.change_notify(change_job.job_id, change_job.notify);
    if num_nonnulls(change_job.priority, change_job.queue, change_job.run_at,
      change_job.limit_by) = 0 and not v_next
    then
      return;
    end if;
  end if;
  if _qwf.change_waiting(array[change_job.job_id], change_job.priority, change_job.queue,
    change_job.run_at, v_next, change_job.limit_by) = '{}' then
    perform _qwf.raise_not_waiting(change_job.job_id);
  end if;
end $$;
comment on function qwf.change_job is
  'Changes priority, queue, run_at or limit_by ('''': none) of a queued or scheduled job, or makes '
  'it the next of its queue. notify: the receiver of that name is told when the job fails for good '
  'or asks; of a node, when its run ends or asks; '''': nobody is told. QW001 no such job or '
  'limit, QW002 it is not waiting (for notify: it is over), QW005 invalid time or receiver, QW006 '
  'unknown queue.';
call _qwf.allow('qwf.change_job', 'qwf_producer');

commit;
