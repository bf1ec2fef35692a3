-- Deploy qwf:functions/wake/sleep
-- Purpose: Registers a worker as asleep on a queue.
-- Guarantees: A job that becomes claimable after this commits wakes the worker. Claim once more
--   after the commit: a job that came between the empty claim and this call wakes nobody. A row
--   older than fifteen seconds is ignored, so repeat the call while asleep. A repeated call does
--   not count as having just fallen asleep; _wake leaves out those who have, because they are about
--   to look.
-- Locks: the worker's own row in sleepers.
-- Raises: QW005 if there is no worker, QW006 for an unknown queue.
-- Called by: agents that found a queue empty.

begin;

create function qwf.sleep(worker text, queue text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if sleep.queue = 'qwf.runs'
    or not exists (select from qwf.queues q where q.name = sleep.queue)
  then
    perform _qwf.raise_unknown_queue(sleep.queue);
  end if;
  perform _qwf.check_worker(sleep.worker);
  insert into qwf.sleepers as s (worker, queue, since)
  values (sleep.worker, sleep.queue, qwf.now())
  on conflict (queue, worker) do update set since = excluded.since - interval '4 ms';
  return qwf.wake_channel(sleep.worker);
end $$;
comment on function qwf.sleep is
  'Registers the worker as asleep on the queue and returns the channel it has to LISTEN on. Claim '
  'once more afterwards, and call sleep or stay_asleep at least every ten seconds while asleep; '
  'QW006 for an unknown queue.';
call _qwf.allow('qwf.sleep', 'qwf_worker');

commit;
