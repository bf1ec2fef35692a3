-- Deploy qwf:functions/upkeep/_prune_minutes
-- Purpose: Deletes the minutes of hosts and queues that are older than settings.minutes_keep.
-- Guarantees: Reads only the oldest minutes, along an index; p_max of each table. Keeps the minute
--   that is not over, however short the setting is: else every tick would write it again.
-- Locks: rows that nobody else has locked.
-- Called by: prune.

begin;

create function _qwf.prune_minutes(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_old timestamptz := (
    select least(v_now - s.minutes_keep, date_bin('1 minute', v_now, 'epoch')) from qwf.settings s);
  v_hosts int;
  v_queues int;
begin
  delete from qwf.host_minutes h
  where h.ctid = any (array(
    select o.ctid from qwf.host_minutes o
    where o.minute < v_old order by o.minute limit p_max for update skip locked));
  get diagnostics v_hosts = row_count;
  delete from qwf.queue_minutes m
  where m.ctid = any (array(
    select o.ctid from qwf.queue_minutes o
    where o.minute < v_old order by o.minute limit p_max for update skip locked));
  get diagnostics v_queues = row_count;
  return v_hosts + v_queues;
end $$;

commit;
