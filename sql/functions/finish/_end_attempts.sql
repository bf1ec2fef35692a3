-- Deploy qwf:functions/finish/_end_attempts
-- Purpose: Ends attempts with any outcome, and does what follows: releases slots, wakes for keys,
--   moves runs on.
-- Guarantees: p_ended: attempts that have ended in this transaction already, of which only the
--   consequences are due. Returns all that has ended, and the runs whose events wait in the outbox.
-- Locks: the jobs (by id), then slots, then what _apply_where_free locks without waiting.
-- Notifies: sleepers of the queues that got work, or where jobs wait for a slot or a key.
-- Called by: _finish_rest, _reclaim, deregister_worker, _release_switched_off.

begin;

create function _qwf.end_attempts(
  p_reports _qwf.report[], p_ended _qwf.finished default null,
  out ended _qwf.finished, out pending bigint[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  ended := p_ended;
  pending := '{}';
  if p_reports <> '{}' then
    ended := _qwf.write_reports(p_reports, p_ended);
  end if;
  if ended.ids is not null then
    perform _qwf.release_slots(ended.ids);
  end if;
  if ended.keys is not null then
    perform _qwf.wake_for_keys(ended.keys);
  end if;
  if ended.events is not null then
    pending := _qwf.apply_where_free(ended.events);
  end if;
end $$;

commit;
