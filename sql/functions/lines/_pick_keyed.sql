-- Deploy qwf:functions/lines/_pick_keyed
-- Purpose: Picks jobs of limits that count by key.
-- Guarantees: Picks at most p_startable jobs of limits with a rate, and looks at 32 more keys then;
--   null: no limit by key has a rate. The index of waiting jobs is the line, and the running jobs
--   are the count: nothing is derived, so nothing can be stale. In a band the walk goes on from the
--   key that was served last, by whatever session: see _turn_owner. An ordinary claim needs two
--   small statements: the first finds keys that seem open and locks them, the second counts again
--   under the locks and picks, as _pick_of_keys does. If the jobs are too few, if a limit has a
--   rate, and in a session that knows something of the line, _walk_line goes on. Hands out nothing
--   in an isolation above read committed: an old snapshot cannot count.
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
  v_owner bigint := _qwf.turn_owner(p_queue, p_worker, p_light_only, p_now);
  v_slot int := _qwf.turn_slot(v_owner);
  v_turn _qwf.turn := _qwf.read_turn(v_owner, v_slot);
  v_at bigint := coalesce(v_turn.own, v_turn.shared, 0);
  v_walked bigint := _qwf.index_entries_walked('qwf.jobs_keyed');
  v_keys _qwf.limit_key[] := '{}'; v_jobs _qwf.picked[] := '{}';
  v_band bigint; v_looked int := 0;
  v_came_to bigint; v_came_round boolean; v_last bigint;
  v_pinned boolean := false;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return '{}';
  end if;
  if p_startable is null and coalesce(current_setting('qwf.lines', true), '') = '' then
    select coalesce(array_agg((t.place, t.name, t.head, t.max_running, null, null)::_qwf.limit_key)
        filter (where t.locked), '{}'), max(t.band), coalesce(max(t.n), 0),
      (array_agg(t.place))[count(*)], coalesce(bool_or(t.part = 3), true),
      coalesce(bool_or(t.pinned), false)
      into v_keys, v_band, v_looked, v_came_to, v_came_round, v_pinned
    from (
      select l.* from (
        select r.*, case when r.open then (select true from _qwf.hash_locks h
          where h.number = r.place & 16383 for update skip locked) end as locked
        from _qwf.ring_of_keys(p_queue, p_worker, p_now, p_light_only, v_at) r offset 0) l
      where l.locked or l.part = 3 or l.n >= 256 limit least(p_count, 100)) t;
    select coalesce(array_agg(f.job), '{}'), v_keys[max(f.nth)].place into v_jobs, v_last
    from (
      select picked.job, k.nth
      from unnest(v_keys) with ordinality k (place, name, head, max_running, starts, per, nth)
      cross join lateral (
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked as job
        from qwf.jobs j
        where _qwf.line_of(j) = p_queue and _qwf.band_of(j) = v_band and j.limit_place = k.place
          and j.position >= k.head and j.status in ('queued', 'running') and j.limit_by = k.name
          and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
        order by j.position
        limit least((p_count - 1) / cardinality(v_keys) + 1, k.max_running - (
          select count(*) from (
            select from qwf.jobs w
            where _qwf.line_of(w) is null and _qwf.band_of(w) is null and w.limit_place = k.place
              and w.limit_by = k.name and w.status in ('queued', 'running')
            limit k.max_running) c))
        for no key update skip locked) picked
      limit p_count) f;
    if cardinality(v_jobs) = p_count
      and _qwf.index_entries_walked('qwf.jobs_keyed') - v_walked <= 1000 + 32 * v_looked
    then
      v_last := _qwf.store_turn(v_turn, v_last, v_pinned); return v_jobs;
    end if;
  end if;
  return _qwf.walk_line(
    (p_queue, p_worker, p_now, p_light_only, null, case when v_came_round then v_at
      else coalesce(v_came_to, v_at) end, 0, v_keys, v_jobs, v_last, v_looked, p_startable,
      v_pinned),
    v_band, v_came_round, v_walked, p_count, v_turn);
end $$;

commit;
