-- Jobs of limits that count by key, with the keys in turn. Locks: keys, tried only, then queued
-- jobs that nobody else has locked.

create type _qwf.limit_key as (
  band bigint, part int, place bigint, after bigint, name text, head bigint, max_running int,
  starts int, per interval, nth int, pinned boolean, locked boolean);
comment on type _qwf.limit_key is
  'A key of a limit as a claim comes to it in a band of a line, or (without a name) the end of the '
  'line: part, place and after say where the walk goes on; then the position of its first job that '
  'fits, the numbers of its limit, and the how many-th it is; pinned: the walk has passed a job '
  'that waits for another host.';

create type _qwf.keyed_job as (job _qwf.picked, place bigint, lap bigint, nth int, rated boolean);
comment on type _qwf.keyed_job is
  'A picked job: the place of its key, the how many-th of its key it is, and which turn the key '
  'has; rated: its limit has a rate.';

-- Picks jobs of limits that count by key. The index of waiting jobs is the line, and the running
-- jobs are the count: nothing is derived, so nothing can be stale. Goes round the keys, band by
-- band, from the one after the last that any session served (_turn_owner); jobs without a key
-- are one more key, at the end. Locks keys that seem to have room, then counts again in a
-- statement begun under the locks, so rivals never exceed a limit. Locks 100 keys at most, and
-- of limits with a rate p_startable. None in an isolation above read committed: an old snapshot
-- cannot count.
-- Locks: the row of a key in hash_locks, tried only; queued jobs that nobody else has locked.
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

-- Returns the keys of a band of a line that have room and a job that fits the worker, from the
-- one after p_at round to it. One probe of jobs_keyed a key. Locks nothing, so the room may be
-- gone. Goes on after the row p_from of an earlier call. Also returns jobs that wait for another
-- host (fits is not true), and rows without a name: the walk has come to the end of the line
-- (part is 2), or round (part is 3). One query without a pinned search_path, so that the planner
-- puts it into the one that reads it, and that looks at no more keys than it needs.
create function _qwf.ring_of_keys(
  p_queue text, p_at bigint, p_from _qwf.limit_key, p_worker qwf.workers, p_now timestamptz,
  p_light_only boolean)
returns table (
  part int, place bigint, after bigint, name text, head bigint, fits boolean, max_running int,
  starts int, per interval, nth int, pinned boolean)
language sql stable
as $$
  with recursive ring (part, place, after, name, head, fits, nth, pinned) as (
    select p_from.part, p_from.place, p_from.after, null::text, null::bigint, null::boolean,
      p_from.nth, p_from.pinned
    union all
    select
      case when k.place is null then r.part + 1 else r.part end,
      coalesce(k.place, -9223372036854775808),
      case when k.fits then 9223372036854775807 else coalesce(k.head, 9223372036854775807) end,
      k.name, k.head, k.fits, r.nth + 1, r.pinned or k.fits is false
    from ring r
    left join lateral (
      select c.* from (
        select j.limit_place as place, j.limit_by as name, j.position as head,
          (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now) as fits,
          j.requires ? 'host' as pinned
        from qwf.jobs j
        where _qwf.line_of(j) = p_queue and _qwf.band_of(j) = p_from.band
          and (j.limit_place, j.position) > (r.place, r.after)
          and j.limit_place <= case r.part when 1 then 9223372036854775807 else p_at end
          and j.status in ('queued', 'running')
        order by j.limit_place, j.position offset 0) c
      where c.fits or c.pinned limit 1) k on true
    where r.part < 3
  )
  select r.part, r.place, r.after, r.name, r.head, r.fits, l.max_running, l.starts, l.per, r.nth,
    r.pinned
  from ring r
  left join qwf.limits l on l.name = split_part(r.name, ':', 1) and l.keyed
  left join lateral _qwf.room_of_key(
    r.place, r.name, l.max_running, l.starts, l.per, p_now) o on r.fits
  where r.nth > p_from.nth and (r.fits is not true or o.room > 0 and not exists (
    select from qwf.limit_holds h
    where h.name = any (array[l.name, r.name]) and h.until > p_now))
$$;

-- Returns how many more jobs of a key may run, and start now. Exact if the statement began under
-- the lock of the key. One query without a pinned search_path, so that the planner puts it into
-- the statement that reads it.
create function _qwf.room_of_key(
  p_place bigint, p_name text, p_max_running int, p_starts int, p_per interval, p_now timestamptz)
returns table (room int)
language sql stable
as $$
  select least(
    p_max_running - (
      -- both states: written so as not to use another index of running jobs
      select count(*) from (
        select from qwf.jobs j
        where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = p_place
          and j.limit_by = p_name and j.status in ('queued', 'running')
        limit p_max_running) c),
    p_starts - (
      select count(*) from qwf.limit_keys s cross join lateral unnest(s.starts) u
      where p_starts is not null and s.name = p_name and u > p_now - p_per))::int
$$;

-- Puts the picked jobs of keys and the other picked jobs of a claim into one order, and returns
-- as many as are asked for. Order: run_next; the loaded model, unless a job of a key has waited
-- for affinity_max_wait; priority; turns. All jobs without a key have the turn at which the walk
-- came to the end of the line (in p_walk); they come last if it has not. At most p_startable
-- (null: any number) have a limit with a rate. What is left out stays queued.
create function _qwf.mix_keyed(
  p_turns _qwf.keyed_job[], p_others _qwf.picked[], p_walk _qwf.limit_key[], p_now timestamptz,
  p_count int, p_startable int, p_model text)
returns _qwf.keyed_job[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_model text := p_model;
begin
  if p_model is not null and exists (
    select from unnest(p_turns) t join qwf.jobs j on j.ctid = (t.job).row
    where j.queued_at <= p_now - (select s.affinity_max_wait from qwf.settings s))
  then
    v_model := null;
  end if;
  return array(
    with job as (
      select c.*, j.run_next, j.priority, coalesce(j.required_model = v_model, false) as warm,
        row_number() over (partition by c.place is null, j.run_next,
          coalesce(j.required_model = v_model, false), j.priority order by c.n) as nth_other
      from (
        select t.job, t.place, t.lap, t.nth, t.rated, 0 as n from unnest(p_turns) t
        union all
        select p_others[i], null, null, null, null, i from generate_subscripts(p_others, 1) i) c
      cross join lateral (
        select b.run_next, b.priority, b.required_model
        from qwf.jobs b where b.ctid = (c.job).row offset 0) j
    ), placed as (
      select j.job, coalesce(j.place, case when e.nth is not null then -9223372036854775807 end)
          as place, coalesce(j.lap, j.nth_other) as lap,
        coalesce(j.rated, (  -- exists may be planned to read all jobs
          select true from qwf.jobs b join qwf.limits l on l.name = b.limit_by
          where b.ctid = (j.job).row and b.limit_place is null and l.starts is not null
          limit 1), false) as rated,
        row_number() over (order by j.run_next desc, j.warm desc, j.priority,
          coalesce(j.nth, e.nth) is null, coalesce(j.lap, j.nth_other), coalesce(j.nth, e.nth),
          j.place is null desc) as n
      from job j
      left join unnest(p_walk) e on j.place is null and e.name is null and e.part = 2
        and e.band = j.priority - case when j.run_next then 4294967296 else 0 end
    ), counted as (
      select p.*, count(*) filter (where p.rated) over (order by p.n) as starts from placed p
    )
    select (c.job, c.place, c.lap, null, c.rated)::_qwf.keyed_job
    from counted c
    where (not c.rated or c.starts <= p_startable) is not false
    order by c.n
    limit p_count);
end $$;
