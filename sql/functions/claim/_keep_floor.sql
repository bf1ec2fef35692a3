-- Deploy qwf:functions/claim/_keep_floor
-- Purpose: Finds the floor of a queue for a worker, and stores it for later claims of this session.
--   The floor is the point in claim order where the first queued job that fits the worker lies.
--   Claims start their walk there, because a walk from the beginning would pass everything claimed
--   before: while somebody holds a snapshot, vacuum leaves that in the index.
-- Guarantees: A hint in a setting of the session: no row, no lock, nothing shared. It is valid for
--   twenty times as long as it took to find, at least 0.1 seconds and at most 1 second, so that a
--   session spends at most 5 % of its time finding floors. The walk for the next floor starts at a
--   base, which lies below the floor far enough for jobs that are about to commit. A base is valid
--   for fifty times as long as the walk from the very start took, at least 1 second and at most 1
--   minute. The floor is dropped if that walk reads 500 entries or fewer, or if nobody has asked
--   for it for two minutes.
-- Called by: _pick_next.

begin;

create function _qwf.keep_floor(p_queue text, p_worker qwf.workers, p_now timestamptz)
returns _qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := qwf.now();
  v_walked bigint := _qwf.index_entries_walked('qwf.jobs_claim');
  v_floors jsonb := _qwf.read_hints('qwf.floors');
  v_key text := _qwf.floor_key(p_queue, p_worker.id);
  v_old _qwf.floor := jsonb_populate_record(null::_qwf.floor, v_floors -> v_key);
  v_new _qwf.floor;
  v_now timestamptz;
  v_took interval;
begin
  if v_old.base_until not between v_began and v_began + interval '1 min' then
    v_old.base_position := null;
  end if;
  v_new := _qwf.find_floor(p_queue, p_worker, p_now, v_old);
  v_now := qwf.now();
  v_took := v_now - v_began;
  if current_setting('transaction_isolation') <> 'read committed' then
    v_new.mark := null;  -- an old snapshot does not see every job up to the mark
  end if;
  v_new.until := v_now + least(greatest(20 * v_took, '0.1 s'), '1 s');
  if v_old.base_position is not null then
    v_new.base_priority := v_old.base_priority;
    v_new.base_position := v_old.base_position;
    v_new.base_until := v_old.base_until;
  elsif _qwf.index_entries_walked('qwf.jobs_claim') - v_walked <= 500 then
    v_new := null;
  elsif v_old.mark is not null and v_new.mark is not null then
    v_new.base_priority := v_new.priority;
    v_new.base_position := least(v_new.position, v_old.mark);
    v_new.base_until := v_now + least(greatest(50 * v_took, '1 s'), '1 min');
  end if;
  v_floors := (
    select coalesce(jsonb_object_agg(f.key, f.value), '{}')
    from jsonb_each(v_floors) f
    where f.key <> v_key and (f.value ->> 'until')::timestamptz > v_now - interval '2 min')
    || case when v_new is null then '{}' else jsonb_build_object(v_key, to_jsonb(v_new)) end;
  perform _qwf.write_hints('qwf.floors', v_floors);
  return v_new;
end $$;

commit;
