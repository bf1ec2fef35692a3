-- Deploy qwf:functions/finish/_after_ends
-- Purpose: Does what follows from the end of attempts: frees slots, wakes for keys and for keys of
--   limits, moves runs on. Returns p_done with the runs for which something waits.
-- Locks: slots, then what _apply_where_free locks without waiting.
-- Notifies: sleepers of the queues that got work, or where jobs wait for a slot, a key, or room of
--   a key of a limit.
-- Called by: _end_attempts, finish_many.

begin;

create function _qwf.after_ends(p_done _qwf.finished) returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
  if p_done.events is not null then
    p_done.pending := _qwf.apply_where_free(p_done.events);
  end if;
  return p_done;
end $$;

commit;
