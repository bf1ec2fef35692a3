-- Deploy qwf:functions/lines/_pick_keyed
-- Purpose: Picks jobs of limits that count by key, and puts them among the other jobs of a claim.
-- Guarantees: The index of waiting jobs is the line, and the running jobs are the count: nothing is
--   derived, so nothing can be stale. Goes round the keys, band by band (run_next, priority), from
--   the one after that which was served last, by whatever session (_turn_owner), until it has
--   enough jobs or has come round. All jobs without a key are one more key, at the end of the line.
--   Locks keys that seem to have room, and then, in a statement that began under the locks, counts
--   again and picks the first job of each key, then the second: so rivals never exceed a limit.
--   Locks 100 keys at most, so that a claim that stays open delays few, and of limits with a rate
--   as many as the worker could begin jobs (p_startable; null: no limit has one); passes 32 more.
--   Hands out no job of a key in an isolation above read committed: an old snapshot cannot count.
-- Locks: the row of a key in hash_locks, tried only; queued jobs that nobody else has locked.
-- Called by: _pick_special.

begin;

create function _qwf.pick_keyed(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int, p_others _qwf.picked[], p_model text)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner constant bigint := _qwf.turn_owner(p_queue, p_worker, p_light_only, p_now);
  v_turn constant _qwf.turn := _qwf.read_turn(v_owner, _qwf.turn_slot(v_owner));
  v_at constant bigint := coalesce(v_turn.own, v_turn.shared, 0);
  v_from _qwf.limit_key; v_ring _qwf.limit_key[]; v_walk _qwf.limit_key[] := '{}';
  v_jobs _qwf.keyed_job[] := '{}';
  v_keys int := 0; v_rated int := 0; v_passed int := 0;
  v_rates int[] := '{}';  -- the keys with a rate that it has locked
begin
  if current_setting('transaction_isolation') = 'read committed' then
    select b.band, 1, v_at, 9223372036854775807, 0, false
      into v_from.band, v_from.part, v_from.place, v_from.after, v_from.nth, v_from.pinned
    from _qwf.next_band(p_queue, null) b;
  end if;
  while v_from.band is not null and v_keys < 100 and v_passed < 32 loop
    v_ring := array(
      select (v_from.band, l.part, l.place, l.after, l.name, l.head, l.max_running, l.starts, l.per,
        l.nth, l.pinned, l.locked)::_qwf.limit_key
      from (
        select r.*, case when r.fits and r.starts is null then (select true from _qwf.hash_locks h
          where h.number = r.place & 16383 for update skip locked) end as locked
        from _qwf.ring_of_keys(p_queue, v_at, v_from, p_worker, p_now, p_light_only) r offset 0) l
      where l.locked or l.fits and l.starts is not null
        or l.name is null and (l.part = 3 or p_others <> '{}')
      limit least(p_count - cardinality(v_jobs), 100 - v_keys));
    if p_startable is not null then
      v_rates := array(
        select k.nth from unnest(v_ring) k
        where k.starts is not null and (select true from _qwf.hash_locks h
          where h.number = k.place & 16383 for update skip locked)
        limit p_startable - v_rated);
    end if;
    v_jobs := v_jobs || array(
      select (f.job, f.place, f.lap, f.nth, f.starts is not null)::_qwf.keyed_job
      from (
        select q.job, q.lap, k.place, k.nth, k.starts,
          count(k.starts) over (order by q.lap, k.nth) as rated
        from unnest(v_ring) k
        cross join lateral _qwf.room_of_key(
          k.place, k.name, k.max_running, k.starts, k.per, p_now) o
        cross join lateral (
          select l.job, row_number() over () as lap
          from (
            select (j.ctid, j.id, j.run_id, null, null,
              j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
              null, null)::_qwf.picked as job
            from qwf.jobs j
            where _qwf.line_of(j) = p_queue and _qwf.band_of(j) = v_from.band
              and j.limit_place = k.place and j.position >= k.head
              and j.status in ('queued', 'running') and j.limit_by = k.name
              and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
            order by j.position
            limit greatest(0, least(p_count, o.room - (
              select count(*) from unnest(v_jobs) t where t.place = k.place)))
            for no key update skip locked) l) q
        where k.locked or k.nth = any (v_rates)) f
      where f.starts is null or f.rated <= p_startable - v_rated order by f.lap, f.nth
      limit p_count - cardinality(v_jobs));
    v_from := v_ring[cardinality(v_ring)];
    if p_others <> '{}' then v_walk := v_walk || v_ring; end if;
    exit when cardinality(v_jobs) = p_count;
    v_keys := v_keys + cardinality(v_rates) + (select count(k.locked) from unnest(v_ring) k);
    v_passed := v_passed - cardinality(v_rates) + (select count(k.starts) from unnest(v_ring) k);
    v_rated := (select count(*) from unnest(v_jobs) t where t.rated);
    if v_from.part = 3 then
      v_from.band := (select b.band from _qwf.next_band(p_queue, v_from.band) b);
      v_from.part := 1; v_from.place := v_at; v_from.after := 9223372036854775807;
    end if;
  end loop;
  if v_jobs = '{}' then
    return p_others;
  elsif p_others <> '{}' then
    v_jobs := _qwf.mix_keyed(v_jobs, p_others, v_walk, p_now, p_count, p_startable, p_model);
  end if;
  perform _qwf.store_turn(v_turn, t.place, v_from.pinned)
  from unnest(v_jobs) with ordinality t
  where t.place is not null and t.lap = 1 order by t.ordinality desc limit 1;
  return array(select t.job from unnest(v_jobs) t);
end $$;

commit;
