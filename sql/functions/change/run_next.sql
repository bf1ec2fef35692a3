-- Deploy qwf:functions/change/run_next
-- Purpose: Puts a job before all others in its queue.
-- Guarantees: Its priority does not change; the flag is cleared when it is claimed. A scheduled job
--   becomes due now.
-- Locks: the job, if it is free.
-- Notifies: a sleeper of the queue.

begin;

create function qwf.run_next(job_id bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if _qwf.change_waiting(array[run_next.job_id], null, null, null, true) = '{}' then
    perform _qwf.raise_not_waiting(run_next.job_id);
  end if;
end $$;
comment on function qwf.run_next is
  'Makes a queued or scheduled job the next of its queue; QW001 no such job, QW002 it is not '
  'waiting.';
call _qwf.allow('qwf.run_next', 'qwf_producer');

commit;
