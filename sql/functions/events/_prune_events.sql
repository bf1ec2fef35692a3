-- Deploy qwf:functions/events/_prune_events
-- Purpose: Deletes events that are older than settings.events_keep, whatever they are about.
-- Guarantees: In the order of numbers, so that those that are kept have no gap: an event that took
--   long to commit goes after those numbered before it. Moves first_seq in the same transaction.
-- Locks: the row of event_numbers; while another transaction has it, it does nothing.
-- Called by: prune.

begin;

create function _qwf.prune_events(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.events_keep from qwf.settings s);
  v_first bigint := (select n.first_seq from _qwf.event_numbers n);
  v_next bigint;
  v_count int;
begin
  if (select e.at from _qwf.event_log e where e.seq >= v_first order by e.seq limit 1) < v_old
    is not true
  then
    return 0;
  end if;
  select n.first_seq into v_first from _qwf.event_numbers n for no key update skip locked;
  if not found then
    return 0;
  end if;
  with oldest as materialized (
    select e.id, e.seq, e.at from _qwf.event_log e
    where e.seq >= v_first order by e.seq limit p_max
  ), gone as (
    delete from _qwf.event_log e
    where e.id = any (array(
      select o.id from oldest o
      where o.seq < coalesce((select min(k.seq) from oldest k where k.at >= v_old), o.seq + 1)))
    returning e.seq
  )
  select count(*), max(g.seq) + 1 into v_count, v_next from gone g;
  update _qwf.event_numbers n set first_seq = coalesce(
    (select min(e.seq) from _qwf.event_log e where e.seq >= v_next), n.last_seq + 1)
  where v_count > 0;
  return v_count;
end $$;

commit;
