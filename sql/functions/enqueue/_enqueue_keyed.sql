-- Deploy qwf:functions/enqueue/_enqueue_keyed
-- Purpose: Enqueues one standalone job that has a key or a deadline, and tells the producer if its
--   arguments are not used.
-- Guarantees: No notice if the job of the key has the same arguments.
-- Locks: as _insert_job.
-- Notifies: one sleeper of the queue.
-- Raises: QW008 as _insert_job.
-- Called by: enqueue.

begin;

create function _qwf.enqueue_keyed(p_job _qwf.new_job, p_now timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_put qwf.enqueued := _qwf.insert_job(p_job, _qwf.next_position(), p_now);
  v_status text;
begin
  if not v_put.merged and v_put.run_at is null then
    perform _qwf.wake(p_job.queue, 1);
  end if;
  select j.status into v_status from qwf.jobs j
  where v_put.kept = 'old args' and j.id = v_put.job_id and j.inputs <> p_job.args;
  if found then
    raise notice using
      message = format('merged into job %s (%s), your arguments were not used',
        v_put.job_id, v_status),
      hint = case when p_job.once
        then 'the key is taken once: use another key for other work'
        else 'key_mode => ''replace'' gives the job that waits the new arguments' end;
  end if;
  return v_put.job_id;
end $$;

commit;
