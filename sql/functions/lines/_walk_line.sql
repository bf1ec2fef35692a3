-- Deploy qwf:functions/lines/_walk_line
-- Purpose: Goes on with a walk along the line of a queue, band by band, until it has enough jobs or
--   has come round, and keeps what the session has learned of the line.
-- Guarantees: First gives the keys of p_band that are locked already what their shares have left.
--   Then goes on with that band; with the next one if that is done with (p_came_round), or with the
--   first (p_band is null). Bands come in order: run_next, priority. It goes round the whole line
--   if it must, so that a job that fits is found, whatever stands in front of it. A session whose
--   round looked at more than 500 keys and found too little rests from full rounds for 20 times as
--   long as that took, at most a second: meanwhile it looks at 256 keys, at the newest jobs, and at
--   keys that have just opened. For at most a second it jumps over parts that it has passed
--   without a job that fits (gaps of _next_keys); if it then finds too few, it looks at the newest
--   jobs.
-- Locks: keys, tried only; queued jobs that nobody else has locked.
-- Called by: _pick_keyed.

begin;

create function _qwf.walk_line(
  p_round _qwf.round, p_band bigint, p_came_round boolean, p_walked bigint, p_count int,
  p_turn _qwf.turn)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round _qwf.round := p_round;
  v_worker text := (p_round.worker).id;
  v_now timestamptz := p_round.now;
  v_line _qwf.line := _qwf.read_line(p_round);
  v_rests boolean := coalesce(v_line.rest > v_now, false);
  v_walked bigint := case when p_round.looked > 0 then p_walked  -- else read_line alone has read
    else _qwf.index_entries_walked('qwf.jobs_keyed') end;
  v_learned boolean := false;
  v_band bigint := case when p_came_round then p_band end;
  v_want int := p_count - cardinality(p_round.jobs);
begin
  v_round.line := v_line;
  v_round.steps := case when p_round.startable = 0 then 32 when v_rests then 256 else 1000000 end;
  if v_rests then
    v_round := _qwf.pick_recent(v_round, p_count);
  elsif v_want > 0 and cardinality(v_round.keys) > 1 then
    v_round := _qwf.pick_of_keys(v_round, p_band, v_round.keys, v_want, v_want);
  end if;
  while cardinality(v_round.jobs) < p_count and v_round.steps > 0 loop
    v_band := _qwf.next_band(p_round.queue, v_line.bands, v_band);
    exit when v_band is null;
    v_round := _qwf.walk_band(v_round, v_band, p_count);
  end loop;
  if cardinality(v_round.jobs) < p_count and v_line.skips <> '{}' and not v_rests then
    v_round := _qwf.pick_recent(v_round, p_count);
  end if;
  if v_round.last <> p_round.at then  -- a claim that finds nothing writes nothing
    perform _qwf.store_turn(p_turn, v_round.last, v_round.pinned);
  end if;
  if (v_round.line).skips is distinct from v_line.skips then
    v_line.skips := (v_round.line).skips;
    v_line.until := coalesce(v_line.until, v_now + interval '1 s');
    v_learned := true;
  end if;
  if not v_rests and v_round.looked > 500 and cardinality(v_round.jobs) < p_count then
    v_line.rest := v_now + least(20 * (qwf.now() - v_now), '1 s');
    v_learned := true;
  elsif _qwf.index_entries_walked('qwf.jobs_keyed') - v_walked
    > 1000 + 32 * v_round.looked and not v_rests
  then
    perform _qwf.keep_line(v_round);
    v_learned := false;
  end if;
  if v_learned then
    perform _qwf.store_line(p_round.queue, v_worker, v_line, v_now);
  end if;
  return v_round.jobs;
end $$;

commit;
