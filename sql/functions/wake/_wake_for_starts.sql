-- Deploy qwf:functions/wake/_wake_for_starts
-- Purpose: Wakes sleepers of the queues where jobs wait for a limit whose rate has allowed starts
--   again since this was last called.
-- Guarantees: Wakes for what was allowed since then, not for starts that nobody has used for
--   longer: those jobs wait for something else.
-- Notifies: as many sleepers of each such queue as there are starts, 16 at most.
-- Called by: _tick_part.

begin;

create function _qwf.wake_for_starts() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_woken timestamptz := _qwf.last_start_wake(v_now);
  v_count int;
begin
  perform _qwf.wake_for_limit(l.name, n.starts)
  from qwf.limits l
  cross join lateral (
    select count(*)::int as starts
    from (
      select from qwf.limit_starts t
      where t.limit_name = l.name and t.used_at > v_woken - l.per and t.used_at <= v_now - l.per
        and t.place <= l.starts
      order by t.used_at
      limit 16) t) n
  where l.starts is not null and n.starts > 0;
  get diagnostics v_count = row_count;
  v_count := v_count + _qwf.wake_for_openings(v_woken, v_now);
  perform setval('qwf.last_start_wake', floor(extract(epoch from v_now) * 1000)::bigint)
  where exists (select from qwf.limits l where l.starts is not null);
  return least(v_count, 99);
end $$;

commit;
