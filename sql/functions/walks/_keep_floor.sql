-- Deploy qwf:functions/walks/_keep_floor
-- Purpose: Finds the floor of a queue for a worker, and stores it for later claims of this session.
--   The floor says for each priority where the first queued job that fits the worker lies. Claims
--   start their walk there, because a walk from the beginning would pass everything claimed before:
--   while somebody holds a snapshot, vacuum leaves that in the index.
-- Guarantees: A hint in a setting of the session: no row, no lock, nothing shared. It is valid for
--   twenty times as long as it took to find, at least 0.1 seconds and at most 1 second. The walk
--   for the next floor starts at the bases. A base lies below the floor and below a mark, a
--   position that was the last one when all transactions that have ended since were still open, or
--   5 seconds ago: so it passes no job that a shorter transaction commits. A walk from the very
--   start finds the others. It comes after 200 times as long as such a walk takes, at least 5
--   seconds and at most 1 minute. The floor is dropped if that walk reads 500 entries or fewer, or
--   if nobody has asked for it for two minutes.
-- Called by: claim, _pick_next, _pick_warm, _usable_floor.

begin;

create function _qwf.keep_floor(p_queue text, p_worker qwf.workers) returns _qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := qwf.now();
  v_walked bigint := _qwf.index_entries_walked('qwf.jobs_claim');
  v_last bigint := coalesce(pg_sequence_last_value('qwf.job_position'), 0);
  v_key text := _qwf.floor_key(p_queue, p_worker.id);
  v_floor _qwf.floor := _qwf.read_floor(v_key);
  v_all boolean := coalesce(
    v_floor.base_until not between v_began and v_began + interval '1 min', true);
  -- an old snapshot does not see every job up to the mark
  v_sees_all boolean := current_setting('transaction_isolation') = 'read committed';
  v_settled boolean := v_sees_all and v_floor.mark is not null and coalesce(
    pg_snapshot_xmin(pg_current_snapshot()) >= v_floor.mark_xid
    or v_floor.mark_at < v_began - interval '5 s', false);
  v_now timestamptz;
begin
  v_floor.bands := _qwf.find_floor(p_queue, p_worker, v_floor.bands, v_all, v_last);
  v_now := qwf.now();
  if v_all and _qwf.index_entries_walked('qwf.jobs_claim') - v_walked <= 500 then
    perform _qwf.store_floor(v_key, null, v_now);
    return null;
  end if;
  v_floor.until := v_now + least(greatest(20 * (v_now - v_began), '0.1 s'), '1 s');
  if v_all then
    v_floor.base_until := v_now + least(greatest(200 * (v_now - v_began), '5 s'), '1 min');
  end if;
  v_floor.bands := array(
    select (b.priority, b.position, greatest(
      case when b.base is not null then least(b.base, b.position) end,
      case when v_settled then least(b.position, v_floor.mark) end), null)::_qwf.band
    from unnest(v_floor.bands) b);
  if v_settled or not v_sees_all or v_floor.mark is null
    or v_floor.mark_at > v_began  -- the clock was set back
  then
    v_floor.mark := case when v_sees_all then v_last end;
    v_floor.mark_xid := pg_snapshot_xmax(pg_current_snapshot());
    v_floor.mark_at := v_began;
  end if;
  perform _qwf.store_floor(v_key, v_floor, v_now);
  return v_floor;
end $$;

commit;
