-- Deploy qwf:functions/upkeep/_record_minutes
-- Purpose: Writes the history that charts show: the load of the queues, once in each minute, and of
--   the hosts, for each minute that has ended.
-- Guarantees: Reads one index entry if this minute is written already. One caller at a time, so
--   that two ticks write a minute once and none waits for the row of another. A tick that comes
--   late takes the samples that are left; a minute that nobody looked at gets no row.
-- Locks: roll_up, tried only.
-- Called by: _tick_part.

begin;

create function _qwf.record_minutes() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_minute timestamptz := date_bin('1 minute', v_now, 'epoch');
begin
  -- _roll_up_counts writes rows of this minute too, but not how many jobs are queued
  if exists (
      select from qwf.queue_minutes m where m.minute = v_minute and m.queued is not null)
    or not _qwf.try_lock('roll_up')
  then
    return 0;
  end if;
  return _qwf.record_queues(v_minute, v_now) + _qwf.record_hosts(v_minute);
end $$;

commit;
