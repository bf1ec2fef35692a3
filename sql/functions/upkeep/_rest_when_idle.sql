-- Deploy qwf:functions/upkeep/_rest_when_idle
-- Purpose: Runs one part of the tick, and rests it when it scanned much and found nothing: while
--   somebody holds a snapshot, vacuum leaves all past entries in the index.
-- Guarantees: If the part reads more than 10,000 entries and finds nothing, ticks skip it for
--   twenty times as long as it took, ten seconds at most.
-- Called by: _tick_part.

begin;

create function _qwf.rest_when_idle(p_part text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_indexes regclass[] := case p_part
    when 'reclaimed' then '{qwf.jobs_running}'
    when 'answered' then '{qwf.signals_look_at, qwf.waits_late}'
    when 'woken' then '{qwf.jobs_claim}'
    when 'pruned' then '{qwf.jobs_pkey, qwf.runs_finished, _qwf.event_log_seq,
      qwf.signals_keep_until}' end;
  v_began timestamptz := qwf.now();
  v_walked bigint := (select sum(_qwf.index_entries_walked(i)) from unnest(v_indexes) i);
  v_until timestamptz := (select r.until from _qwf.rests r where r.part = p_part);
  v_count int;
begin
  if v_until between v_began and v_began + interval '10 s' then
    return 0;
  end if;
  v_count := case p_part
    when 'reclaimed' then (select count(*) from _qwf.reclaim())
    when 'answered' then _qwf.match_signals()
    when 'woken' then _qwf.wake_overlooked()
    when 'pruned' then (select sum(p.value::int) from jsonb_each(qwf.prune()) p) end;
  v_until := null;
  if v_count = 0 and 10000 < (
    select sum(_qwf.index_entries_walked(i)) - v_walked from unnest(v_indexes) i)
  then
    v_until := qwf.now() + least(20 * (qwf.now() - v_began), '10 s');
  end if;
  if v_until is not null then
    update _qwf.rests r set until = v_until
    where r.ctid = (select f.ctid from _qwf.rests f where f.part = p_part for update skip locked);
  end if;
  return v_count;
end $$;

commit;
