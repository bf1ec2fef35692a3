-- Deploy qwf:functions/wake/_wake
-- Purpose: Wakes as many sleepers of a queue as there are new jobs, and no worker that is awake.
-- Guarantees: Writes no row and waits for nobody: rivals skip each other's picks by locks that they
--   only try, and that end with the transaction. Sends no NOTIFY if nobody sleeps. If two or more
--   workers fell asleep within the last four milliseconds (a busy fleet), they count as woken: they
--   look again by themselves after five, and a NOTIFY in every commit would make producers queue
--   for its lock. A worker that only renews its sleep is not counted as freshly asleep (see sleep).
--   A lost wake-up costs the sleeper one poll. On a queue with placement pack the best workers come
--   first, else those that fell asleep last.
--   Of the queue of runs it only notes that runs may start: the caller's _apply_events serves them,
--   or the next tick.
-- Locks: the row of the sleeper in hash_locks, tried only.
-- Notifies: the channel of each sleeper picked.
-- Called by: every function that makes a job claimable.

begin;

create function _qwf.wake(p_queue text, p_count int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_pack boolean;
  v_put_off text[];
begin
  if p_queue = 'qwf.runs' then
    perform set_config('qwf.runs_due', '1', true);
    return;
  elsif not exists (select from qwf.sleepers s where s.queue = p_queue) then
    return;  -- the usual case in a busy fleet, and cheaper than the sort below
  end if;
  if current_setting('qwf.put_off', true) <> '' then
    v_put_off := regexp_match(
      current_setting('qwf.put_off'), '^([0-9]+) ([0-9]{1,6}) (.*)$');
    if v_put_off[1] = pg_current_xact_id_if_assigned()::text and v_put_off[3] = p_queue then
      -- This transaction claims next: finish_and_claim wakes for what it leaves.
      perform set_config('qwf.put_off',
        format('%s %s %s', v_put_off[1], v_put_off[2]::int + p_count, p_queue), true);
      return;
    end if;
  end if;
  v_pack := (select q.placement = 'pack' from qwf.queues q where q.name = p_queue);
  perform pg_notify(qwf.wake_channel(picked.worker), p_queue)
  from (
    select asleep.worker
    from (
      select s.worker, count(*) filter (where s.since > v_now - interval '4 ms') over () as fresh
      from qwf.sleepers s
      left join qwf.workers w on w.id = s.worker and v_pack
      where s.queue = p_queue and s.since > v_now - interval '15 s'
      order by w.rank desc nulls last, w.slots desc nulls last,
        s.since desc  -- so that one that died asleep is soon not picked
      limit 64
    ) asleep
    where (asleep.fresh < 2 or asleep.fresh < p_count)
      and (select true from _qwf.hash_locks h
        where h.number = hashtext(asleep.worker) & 4095 | 16384 for update skip locked)
    limit least(p_count, 16)
  ) picked;
end $$;

commit;
