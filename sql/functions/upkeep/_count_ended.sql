-- Deploy qwf:functions/upkeep/_count_ended
-- Purpose: Adds attempts that ended in one minute to the row of their queue.
-- Guarantees: The caller holds the lock roll_up, so nobody waits for the row.
-- Called by: _roll_up_counts.

begin;

create function _qwf.count_ended(p_queue text, p_minute timestamptz, p_ended jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.queue_minutes as m (
    queue, minute, completed, error, fatal, tempfail, lost, released, cancelled)
  select
    p_queue, p_minute, coalesce(e.completed, 0), coalesce(e.error, 0), coalesce(e.fatal, 0),
    coalesce(e.tempfail, 0), coalesce(e.lost, 0), coalesce(e.released, 0), coalesce(e.cancelled, 0)
  from jsonb_to_record(p_ended) e (
    completed int, error int, fatal int, tempfail int, lost int, released int, cancelled int)
  on conflict (queue, minute) do update set
    completed = m.completed + excluded.completed, error = m.error + excluded.error,
    fatal = m.fatal + excluded.fatal, tempfail = m.tempfail + excluded.tempfail,
    lost = m.lost + excluded.lost, released = m.released + excluded.released,
    cancelled = m.cancelled + excluded.cancelled;
end $$;

commit;
