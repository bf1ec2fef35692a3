-- Deploy qwf:functions/finish/_after_ends
-- Purpose: Does what follows from the end of attempts: frees slots, wakes for keys and for keys of
--   limits, moves runs on. Returns p_done with the runs for which something waits in the outbox.
-- Guarantees: Waits for no run, as its caller holds jobs: the events of a run that is locked are
--   left in the outbox. Every event is applied or there when the transaction commits: an error
--   while applying rolls back to before the run locks, and the events wait for drain_outbox.
-- Locks: slots, then runs (by id) that are free, their outbox events, jobs of those runs.
-- Notifies: sleepers of the queues that got work, or where jobs wait for a slot, a key, or room of
--   a key of a limit.
-- Called by: _end_attempts, finish_many.

begin;

create function _qwf.after_ends(p_done _qwf.finished) returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_locked bigint[];
  v_events _qwf.event[];
  v_left _qwf.event[] := '{}';
  v_error text;
  v_waits boolean;
begin
  if (select true from qwf.limit_slots l where l.job_id is not null limit 1) then
    perform _qwf.release_slots(p_done.ids);
  end if;
  if p_done.keys is not null then
    perform _qwf.wake(n.queue, count(*)::int)
    from unnest(p_done.keys) s
    cross join lateral (  -- from the index jobs_key
      select o.queue from qwf.jobs o
      where o.project = s.project and o.task = s.task and o.key = s.key and o.key is not null
        and (o.key_state = 's') = false and o.status = 'queued'
    ) n
    group by n.queue;
  end if;
  if p_done.places is not null then
    perform _qwf.wake_for_keys(p_done.places);
  end if;
  if p_done.events is null then
    return p_done;
  end if;
  begin
    v_events := p_done.events;
    v_locked := array(
      select r.id from qwf.runs r
      where r.id = any (array(select e.run_id from unnest(p_done.events) e))
      order by r.id
      for no key update skip locked);
    if cardinality(v_locked) < cardinality(p_done.events) then  -- else each is about another run
      v_left := array(select e from unnest(p_done.events) e where e.run_id <> all (v_locked));
      v_events := array(select e from unnest(p_done.events) e where e.run_id = any (v_locked));
    end if;
    if (select true from qwf.outbox o where o.run_id = any (v_locked) limit 1) then
      v_events := _qwf.take_events(v_locked) || v_events;
    end if;
    v_waits := _qwf.apply_events(v_events);
  exception
    -- a statement timeout is also an error of the fan-out only
    when others or query_canceled then
      v_left := p_done.events;
      v_error := sqlstate || ' ' || sqlerrm;
  end;
  if v_left = '{}' then
    p_done.pending := case when v_waits then v_locked end;
    return p_done;
  end if;
  insert into qwf.outbox (run_id, job_id, kind, error)
  select e.run_id, e.job_id, e.kind, v_error from unnest(v_left) e;
  p_done.pending := array(select distinct e.run_id from unnest(v_left) e);
  return p_done;
end $$;

commit;
