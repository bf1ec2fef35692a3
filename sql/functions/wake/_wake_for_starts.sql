-- Deploy qwf:functions/wake/_wake_for_starts
-- Purpose: Wakes sleepers of the queues where jobs wait for a limit whose rate has allowed starts
--   again since this was last called, or whose hold is over, which it deletes.
-- Guarantees: Wakes for what was allowed since then, not for starts that nobody has used for
--   longer: those jobs wait for something else. Of keys it looks at 16, and not whether jobs of
--   these keys wait: a sleeper of each queue with a line may look in vain.
-- Locks: holds that are over and that nobody else has locked.
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
  v_keys int := (
    select count(*) from (
      select from qwf.limit_keys k
      where k.opens_at > v_woken and k.opens_at <= v_now order by k.opens_at limit 16) k);
  v_over text[] := array(
    select h.name from qwf.limit_holds h where h.until <= v_now limit 100
    for update skip locked);
begin
  if v_over <> '{}' then
    delete from qwf.limit_holds h where h.name = any (v_over);
    perform _qwf.wake_for_limit(o, 16) from unnest(v_over) o;
    v_keys := v_keys + 16;
  end if;
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
  perform _qwf.wake(s.queue, v_keys)
  from (select distinct z.queue from qwf.sleepers z) s
  where v_keys > 0 and exists (select from _qwf.next_band(s.queue, null));
  perform setval('qwf.last_start_wake', floor(extract(epoch from v_now) * 1000)::bigint)
  where exists (select from qwf.limits l where l.starts is not null);
  return least(v_count + v_keys, 99);
end $$;

commit;
