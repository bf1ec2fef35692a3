-- Deploy qwf:functions/lines/_pick_keyed
-- Purpose: Picks jobs of limits that count by key.
-- Guarantees: Picks at most p_startable jobs of limits with a rate, and looks at 32 more keys then;
--   null: no limit by key has a rate. The index of waiting jobs is the line, and the running jobs
--   are the count: nothing is derived, so nothing can be stale. Bands come in order (run_next,
--   priority); in a band the walk goes on from the key that was served last. It goes round the
--   whole line if it must, so that a job that fits is found, whatever stands in front of it. A
--   session whose round looked at more than 500 keys and found too little rests from full rounds
--   for 20 times as long as that took, at most a second: meanwhile it looks at 256 keys, at the
--   newest jobs, and at keys that have just opened. Hands out nothing in an isolation above read
--   committed: an old snapshot cannot count.
-- Locks: keys, tried only; queued jobs that nobody else has locked.
-- Called by: _pick_special.

begin;

create function _qwf.pick_keyed(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_all constant int := 1000000;
  v_line _qwf.line := _qwf.read_line(p_queue, p_worker.id, p_now);
  v_cursor text := _qwf.cursor_name(p_queue, p_worker.id);
  v_rests boolean := coalesce(v_line.rest > p_now, false);
  v_walked bigint := _qwf.index_entries_walked('qwf.jobs_keyed');
  v_round _qwf.round;
  v_band bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return '{}';
  end if;
  v_round := (p_queue, p_worker, p_now, p_light_only, v_line, _qwf.read_cursor(v_cursor),
    case when p_startable = 0 then 32 when v_rests then 256 else c_all end, '{}', '{}', null, 0,
    p_startable);
  if v_line.until not between p_now and p_now + interval '1 s' then
    v_line := _qwf.keep_line(v_round);  -- it has lapsed, or the clock was set back
    v_round.line := v_line;
    v_walked := _qwf.index_entries_walked('qwf.jobs_keyed');
  end if;
  if v_rests then
    v_round := _qwf.pick_recent(v_round, p_count);
  end if;
  while cardinality(v_round.jobs) < p_count and v_round.steps > 0 loop
    v_band := _qwf.next_band(p_queue, v_line.bands, v_band);
    exit when v_band is null;
    v_round := _qwf.walk_band(v_round, v_band, p_count);
  end loop;
  perform set_config(v_cursor, coalesce(v_round.last, v_round.at)::text, false);
  if not v_rests and v_round.looked > 500 and cardinality(v_round.jobs) < p_count then
    v_line.rest := p_now + least(20 * (qwf.now() - p_now), '1 s');
    perform _qwf.store_line(p_queue, p_worker.id, v_line, p_now);
  elsif _qwf.index_entries_walked('qwf.jobs_keyed') - v_walked
    > 1000 + 10 * v_round.looked and not v_rests
  then
    perform _qwf.keep_line(v_round);
  end if;
  return v_round.jobs;
end $$;

commit;
