-- Deploy qwf:functions/wake/wake
-- Purpose: Takes a worker off the list of sleepers.
-- Guarantees: Nobody sends it a NOTIFY for new jobs any more. On a queue with placement pack it
--   wakes the next sleeper if jobs wait: the others may have left them to this worker.
-- Locks: the worker's own rows in sleepers.
-- Notifies: one sleeper of each packed queue where jobs wait.
-- Called by: agents that have work again.

begin;

create function qwf.wake(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_queue text;
begin
  for v_queue in delete from qwf.sleepers s where s.worker = wake.worker returning s.queue loop
    perform _qwf.wake(q.name, 1)
    from qwf.queues q
    where q.name = v_queue and q.placement = 'pack' and not q.paused
      and exists (
        select from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is null);
  end loop;
end $$;
comment on function qwf.wake is
  'Takes the worker off the list of sleepers, so that wake-ups for new jobs go to others. On a '
  'queue with placement pack, others are woken for the jobs that they have left to it.';
call _qwf.allow('qwf.wake', 'qwf_worker');

commit;
