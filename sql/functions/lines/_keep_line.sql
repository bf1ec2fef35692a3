-- Deploy qwf:functions/lines/_keep_line
-- Purpose: Finds the parts of a line that hold no waiting job, and where the running jobs of its
--   keys begin, after a claim that has passed much: while somebody holds a snapshot, vacuum leaves
--   the entries of all jobs that have left in the index.
-- Guarantees: Looks at 200 keys of each band from the turn on. Valid for 20 times as long as this
--   took, at least 0.1 seconds and at most 1 second; dropped if it passed 500 entries or fewer. The
--   floor of the running jobs of a key is read under its lock, and holds forever: see
--   _pick_of_keys.
-- Locks: the row of a key with a long past in hash_locks, tried only.
-- Called by: _read_line, _walk_line.

begin;

create function _qwf.keep_line(p_round _qwf.round) returns _qwf.line
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := qwf.now();
  v_known bigint[] := (p_round.line).bands;
  v_line _qwf.line := (null, '{}', '{}', (p_round.line).floors, (p_round.line).rest);
  v_walked bigint := _qwf.index_entries_walked('qwf.jobs_keyed');
  v_before bigint;
  v_found record;
  v_band bigint;
begin
  loop
    v_before := _qwf.index_entries_walked('qwf.jobs_keyed');
    v_band := _qwf.next_band(p_round.queue, v_known, v_band);
    exit when v_band is null or cardinality(v_line.bands) = 16;
    v_found := _qwf.find_skips(p_round, v_band);
    v_line.floors := _qwf.raise_floors(v_line.floors, v_found.places);
    continue when v_found.places = '{}'  -- a known band in which nothing is left to pass
      and _qwf.index_entries_walked('qwf.jobs_keyed') - v_before <= 100;
    v_line.bands := v_line.bands || v_band;
    v_line.skips := v_line.skips || v_found.skips;
  end loop;
  if _qwf.index_entries_walked('qwf.jobs_keyed') - v_walked <= 500
    and coalesce(v_line.rest < v_began, true)
  then
    v_line := null;
  else
    v_line.until := qwf.now() + least(greatest(20 * (qwf.now() - v_began), '0.1 s'), '1 s');
  end if;
  perform _qwf.store_line(p_round.queue, (p_round.worker).id, v_line, v_began);
  return v_line;
end $$;

commit;
