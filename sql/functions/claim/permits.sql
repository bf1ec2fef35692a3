-- Slots and starts that limited jobs take before they are claimed. Locks: starts, free slots,
-- then jobs, each only if nobody else has locked it.

-- Locks at most p_count permits of a limit: a free slot each, and a start that its rate allows.
-- At most max_running slots are held, by running jobs and by claims that have not committed: a
-- slot is a row, and rivals skip a locked one. After a limit was lowered, each job that runs
-- above it leaves one free slot unused. A start is a row, too, which is used once in a period:
-- so no more jobs than there are rows start within any period, over all workers. A limit that is
-- held gives none.
-- Locks: starts and free slots of the limit that nobody else has locked.
create function _qwf.lock_permits(p_limit text, p_now timestamptz, p_count int)
returns _qwf.permit[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit qwf.limits;
  v_above int;
  v_starts int[];
  v_slots int[];
  v_count int := p_count;
begin
  select l.* into v_limit from qwf.limits l
  where l.name = p_limit and not exists (
    select from qwf.limit_holds h where h.name = l.name and h.until > p_now);
  if not found then
    return '{}';
  end if;
  if v_limit.starts is not null then
    v_starts := array(
      select t.place
      from qwf.limit_starts t
      where t.limit_name = p_limit and t.used_at <= p_now - v_limit.per
        and t.place <= v_limit.starts
      order by t.used_at
      limit v_count
      for no key update skip locked);
    v_count := cardinality(v_starts);
  end if;
  if v_count = 0 then
    return '{}';
  end if;
  select count(*) into v_above
  from qwf.limit_slots a
  where a.limit_name = p_limit and a.slot > v_limit.max_running and a.job_id is not null;
  v_slots := array(
    select s.slot
    from qwf.limit_slots s
    where s.limit_name = p_limit and s.slot <= v_limit.max_running and s.job_id is null
    order by s.slot
    limit v_count + v_above
    for no key update skip locked);
  return array(
    select (p_limit, v_slots[n], v_starts[n])::_qwf.permit
    from generate_series(1, cardinality(v_slots) - v_above) n);
end $$;

-- Locks the permits that the limited jobs of a claim need, before the jobs are picked. Locks the
-- permit first, then the job: with one slot, the jobs of a limit run strictly in claim order,
-- however many workers claim at once. If a rival holds the permit or the job, plans again
-- without it. At most p_startable of the permits are of limits with a rate.
-- Locks: starts and free slots that nobody else has locked; jobs, as _wanted_permits and
--   _pick_limited do.
create function _qwf.lock_wanted_permits(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int)
returns _qwf.permit[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked _qwf.permit[];
  v_permits _qwf.permit[];
  v_at_most jsonb := '{}';
  v_short boolean;
  v_wanted record;
begin
  loop  -- ends: each short round lowers the maximum of at least one limit
    v_locked := '{}';
    v_short := false;
    for v_wanted in
      select w.limit_name, w.wanted
      from _qwf.wanted_permits(
        p_queue, p_worker, p_now, p_count, p_light_only, p_startable, v_at_most) w
    loop
      v_permits := _qwf.lock_permits(v_wanted.limit_name, p_now, v_wanted.wanted);
      v_permits := v_permits[1 : cardinality(
        _qwf.pick_limited(p_queue, p_worker, p_now, p_light_only, v_permits))];
      v_locked := v_locked || v_permits;
      if cardinality(v_permits) < v_wanted.wanted then
        v_short := true;
        v_at_most := v_at_most || jsonb_build_object(v_wanted.limit_name, cardinality(v_permits));
      end if;
    end loop;
    exit when not v_short;
  end loop;
  return v_locked;
end $$;

-- Returns how many permits of each limit a claim would use if no rival took any: of limits with
-- a rate at most p_startable, the first in claim order. Locks the jobs without a limit already:
-- a job that a rival holds must not count ahead of a limited one behind it, however long the
-- rival holds it. Costs one index probe for each limit that has queued jobs in the queue,
-- however many jobs wait for a full limit, or for one whose rate is used up.
-- Locks: the next queued jobs without a limit that nobody else has locked.
create function _qwf.wanted_permits(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int, p_at_most jsonb)
returns table (limit_name text, wanted int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unlimited _qwf.picked[] := case
    when p_worker.rank < 0 and not p_light_only
      then _qwf.pick_newest(p_queue, p_worker, p_now, p_count, '{}')
    else _qwf.pick_next(p_queue, p_worker, p_now, p_count, p_light_only, '{}') end;
begin
  return query
  with recursive waiting (name) as (  -- steps from limit to limit
    (select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
        and j.limit_place is null order by j.limit_by limit 1)
    union all
    select (select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by > w.name
        and j.limit_place is null order by j.limit_by limit 1)
    from waiting w where w.name is not null
  ), room as (
    select l.name, l.starts > 0 as rated, least((p_at_most ->> l.name)::int, f.free - a.above,
      r.ready, case when l.starts > 0 then p_startable end)::int as permits
    from waiting w
    join qwf.limits l on l.name = w.name and not exists (
      select from qwf.limit_holds h where h.name = l.name and h.until > p_now)
    cross join lateral (select count(*) as above from qwf.limit_slots s
      where s.limit_name = l.name and s.slot > l.max_running and s.job_id is not null) a
    cross join lateral (select count(*) as free from (
      select from qwf.limit_slots s where s.limit_name = l.name and s.slot <= l.max_running
        and s.job_id is null limit p_count + a.above) s) f
    cross join lateral (select case when l.starts > 0 then count(*) end as ready from (
      select from qwf.limit_starts t
      where t.limit_name = l.name and t.used_at <= p_now - l.per and t.place <= l.starts
      order by t.used_at limit p_count) t) r
  ), candidate as (
    select j.id, j.limit_by, j.run_next, j.priority, j.position, j.required_model as model, j.rated
    from (
      select l.*, r.rated from room r
      cross join lateral _qwf.peek(p_queue, r.name, p_worker, p_now, r.permits, p_light_only) l
      where r.permits > 0
      union all
      select f.*, false from qwf.jobs f
      where f.id = any (array(select p.id from unnest(v_unlimited) p))
    ) j
  ), preferred (model) as (  -- as in _pick
    select p_worker.current_model from qwf.settings s
    where p_worker.current_model is not null and not p_light_only
      and _qwf.head_waited(p_queue, p_worker, p_now, array(
        select c.id from candidate c where c.limit_by is not null)) < s.affinity_max_wait
  ), line as (
    select d.limit_by, d.rated, row_number() over (order by d.run_next desc,
      d.model = p.model desc nulls last, d.priority,
      case when p_worker.rank < 0 then -d.position else d.position end) as nth
    from candidate d left join preferred p on true
  )
  select c.limit_by, count(*)::int from (
    select l.limit_by from line l left join (
      select o.nth from line o where o.rated order by o.nth offset p_startable limit 1) e on true
    where coalesce(not l.rated or l.nth < e.nth, true)
    order by l.nth limit p_count) c
  where c.limit_by is not null group by c.limit_by;
end $$;

-- Writes the jobs that a claim has made running into the slots it locked for them, and when they
-- started into the starts. A job that was not made running, because a reference cannot be
-- resolved, takes no slot and no start. A start that was used stays used, also if the job is
-- released.
-- Locks: expects the slots and starts locked by the caller.
create function _qwf.use_permits(
  p_pick _qwf.special_pick, p_jobs _qwf.picked[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.use_key_starts(p_jobs, p_now)
  where p_pick.rated <> '{}';
  with running as materialized (  -- only a running job has a token
    select j.id, j.limit_by, 'queue:' || j.queue as queue_limit
    from unnest(p_jobs) p
    cross join lateral (
      select j.id, j.limit_by, j.queue, j.token from qwf.jobs j where j.id = p.id offset 0) j
    where j.token is not null
  ), locked as (
    select p.limit_name as name, array_agg(p order by p.slot, p.start) as permits
    from unnest(p_pick.permits) p
    group by p.limit_name
  ), used as materialized (  -- in pairs: a join would compare each permit with each job
    select u.limit_name, u.slot, u.start, u.job_id
    from locked l
    cross join lateral unnest(l.permits, array(
      select r.id from running r where l.name in (r.limit_by, r.queue_limit))
      ) u (limit_name, slot, start, job_id)
    where u.job_id is not null
  ), filled as (
    update qwf.limit_slots s set job_id = u.job_id
    from used u
    where s.limit_name = u.limit_name and s.slot = u.slot
  )
  update qwf.limit_starts t set used_at = p_now
  from used u
  where t.limit_name = u.limit_name and t.place = u.start;
end $$;

-- Writes the starts of the jobs that a claim has made running, for keys of limits with a rate.
-- The claim holds the locks of the keys, so nobody else counts meanwhile, and no two write a row
-- at once. A job that was not made running uses no start. Keeps the latest starts, as many as
-- the limit allows in a period: so the window is exact.
-- Locks: rows of limit_keys, under the locks of the keys.
create function _qwf.use_key_starts(p_jobs _qwf.picked[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limit_keys as k (name, starts, opens_at, ends_at)
  select u.name, u.starts, case when cardinality(u.starts) >= u.allowed
    then u.starts[u.allowed] + u.per else p_now end, p_now + u.per
  from (
    select j.limit_by as name, l.starts as allowed, l.per, (array_agg(p_now) || coalesce(
      (select o.starts from qwf.limit_keys o where o.name = j.limit_by), '{}'))[1 : l.starts]
      as starts
    from unnest(p_jobs) p
    cross join lateral (
      select b.limit_by, b.limit_place, b.token from qwf.jobs b where b.id = p.id offset 0) j
    join qwf.limits l on l.name = split_part(j.limit_by, ':', 1) and l.keyed
    where j.limit_place is not null and j.token is not null and l.starts is not null
    group by j.limit_by, l.starts, l.per
  ) u
  on conflict (name) do update set
    starts = excluded.starts, opens_at = excluded.opens_at, ends_at = excluded.ends_at;
end $$;
