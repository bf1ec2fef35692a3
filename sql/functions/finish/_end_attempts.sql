-- Deploy qwf:functions/finish/_end_attempts
-- Purpose: Ends attempts with any outcome, and does what follows: releases slots, wakes for keys,
--   moves runs on.
-- Guarantees: p_ended: attempts that have ended in this transaction already, of which only the
--   consequences are due. Returns all that has ended.
-- Locks: the jobs (by id), then slots, then what _apply_where_free locks without waiting.
-- Notifies: sleepers of the queues that got work, or where jobs wait for a slot, a key, or room of
--   a key of a limit.
-- Called by: _finish_rest, _reclaim, _release_switched_off, _report_runs, _serve_runs,
--   deregister_worker.

begin;

create function _qwf.end_attempts(p_reports _qwf.report[], p_ended _qwf.finished default null)
returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.finished := p_ended;
begin
  if p_reports <> '{}' then
    v_ended := _qwf.write_reports(p_reports, p_ended);
  end if;
  if v_ended.ids is not null then
    perform _qwf.release_slots(v_ended.ids);
  end if;
  if v_ended.keys is not null then
    perform _qwf.wake(n.queue, count(*)::int)
    from unnest(v_ended.keys) s
    cross join lateral (  -- from the index jobs_key
      select o.queue from qwf.jobs o
      where o.project = s.project and o.task = s.task and o.key = s.key and o.key is not null
        and (o.key_state = 's') = false and o.status = 'queued'
    ) n
    group by n.queue;
  end if;
  if v_ended.places is not null then
    perform _qwf.wake_for_keys(v_ended.places);
  end if;
  if v_ended.events is not null then
    v_ended.pending := _qwf.apply_where_free(v_ended.events);
  end if;
  return v_ended;
end $$;

commit;
