-- The filter of claims (which jobs a worker can run), and scans along one index each in the order
-- of the claim. Locks: queued jobs that nobody else has locked.

-- Picks jobs in claim order: run_next, priority, first in, first out. One walk along jobs_claim,
-- with the settings of claim, whatever the statistics say. Passes over the jobs that this claim
-- has picked before: skip locked does not skip its own locks. If the queue has a floor
-- (_find_floors), the walk starts there.
-- Locks: queued jobs that nobody else has locked.
create function _qwf.pick_next(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_light_only boolean,
  p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor _qwf.floors;
begin
  select f.* into v_floor from _qwf.floors f
  where f.queue = p_queue and f.found_at < p_now - interval '1 s' order by f.found_at desc limit 1;
  if v_floor.until > p_now then
    return _qwf.pick_above(
      v_floor.bands, p_queue, p_worker, p_now, p_count, p_light_only, p_picked);
  end if;
  return array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and (j.light or not p_light_only) and j.id <> all (p_picked)
      and _qwf.fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count
    for no key update skip locked);
end $$;

-- Picks jobs in claim order from a floor on, and those that can have been added below it. Walks
-- along jobs_claim in parts: jobs with run_next; priorities before the first one of the floor;
-- then for each priority of the floor the jobs put back at the front (below position 0), and
-- the others from the floor on, with the priorities up to the next one of the floor. The parts
-- below the floor are nearly always empty, which a look without the filter shows at a tenth of
-- the cost. So it passes what was claimed since the floor was found.
-- Locks: queued jobs that nobody else has locked.
create function _qwf.pick_above(
  p_bands _qwf.band[], p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int,
  p_light_only boolean, p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_band _qwf.band;
  v_beyond bigint;  -- the priority where a part ends
  v_jobs _qwf.picked[] := '{}';
begin
  for v_part in 0 .. 2 * cardinality(p_bands) + 1 loop
    v_band := p_bands[v_part / 2];  -- of parts 0 and 1: null
    if v_part > 0 and v_part % 2 = 0 then
      continue when not exists (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and not j.run_next and j.priority = v_band.priority and j.position < 0);
      v_jobs := v_jobs || array(  -- with =: a row comparison would not end the walk
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and not j.run_next and j.priority = v_band.priority and j.position < 0
          and (j.light or not p_light_only) and j.id <> all (p_picked)
          and _qwf.fits(j, p_worker, p_now)
        order by j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    else
      v_beyond := case when v_part > 0 then p_bands[v_part / 2 + 1].priority end;
      continue when v_part < 2 and not exists (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and j.run_next = (v_part = 0) and j.priority < coalesce(v_beyond, 2147483648));
      v_jobs := v_jobs || array(
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked
        from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
          and j.run_next = (v_part = 0)
          and (j.priority, j.position) >= (
            coalesce(v_band.priority, -2147483648),
            coalesce(v_band.position, -9223372036854775808))
          and j.priority < coalesce(v_beyond, 2147483648)
          and (j.light or not p_light_only) and j.id <> all (p_picked)
          and _qwf.fits(j, p_worker, p_now)
        order by j.priority, j.position
        limit p_count - cardinality(v_jobs)
        for no key update skip locked);
    end if;
    exit when cardinality(v_jobs) = p_count;
  end loop;
  return v_jobs;
end $$;

-- True when claim may hand a queued job to a worker. Every walk filters by it. Agrees with
-- _why_unfit_for, which says the same in words. A job that waits does not fit while another of
-- its key has started and is queued or running. One expression without a pinned search_path, so
-- that the planner inlines it into every walk.
create function _qwf.fits(p_job qwf.jobs, p_worker qwf.workers, p_now timestamptz)
returns boolean
language sql stable
as $$
  select _qwf.can_run(p_job, p_worker)
    and (p_job.expires_at is null or p_job.attempt > 0 or p_job.expires_at > p_now)
    and (p_job.avoid_until is null or p_job.avoid_until <= p_now
      or p_job.avoid_host is distinct from p_worker.host
      or not _qwf.another_host_can(p_job, p_now))
    and (p_job.key is null or p_job.key_state = 's'
      or _qwf.started_with_key(p_job.project, p_job.task, p_job.key, false) is null)
$$;

-- True when a worker can run a job, by project, task, model, memory and labels. A task that is
-- held back is run by nobody, but for a job that comes next. What a worker has not announced
-- does not filter, except labels, which it must have. One expression without a pinned
-- search_path, so that the planner inlines it into every walk.
create function _qwf.can_run(p_job qwf.jobs, p_worker qwf.workers) returns boolean
language sql stable
as $$
  select (p_worker.held_tasks is null or p_job.run_next or p_job.task <> all (p_worker.held_tasks))
    and (p_worker.project is null or p_job.project = p_worker.project)
    and (p_worker.tasks is null or p_job.task = any (p_worker.tasks))
    and (p_job.required_model is null or p_worker.models is null
      or p_job.required_model = any (p_worker.models))
    and (p_job.vram_mb is null or p_worker.vram_mb is null or p_job.vram_mb <= p_worker.vram_mb)
    and (p_job.requires = '{}' or coalesce(p_worker.labels, '{}') @> p_job.requires)
$$;

-- True when a worker on another host could take a job that avoids one. The worker must be live
-- and switched on.
create function _qwf.another_host_can(p_job qwf.jobs, p_now timestamptz) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from qwf.workers w cross join qwf.settings s
    where w.queue = p_job.queue and w.stopped_at is null
      and w.last_seen > p_now - s.worker_stale
      and w.host <> p_job.avoid_host and _qwf.can_run(p_job, w)
      and not exists (
        select from qwf.switched_off o where o.host = w.host and o.queue = w.queue));
end $$;

-- Picks jobs for an overflow worker, the newest of a band first, so that it leaves the oldest to
-- the others. Walks backwards along jobs_claim, one band after another (first run_next, then
-- each priority). After 32 bands it picks the rest in claim order, so that the cost is bounded.
-- Locks: queued jobs that nobody else has locked.
create function _qwf.pick_newest(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int, p_picked bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs _qwf.picked[] := '{}';
  v_run_next boolean := true;
  v_priority bigint := -2147483648;  -- no job with a lower number is left
begin
  for v_step in 1 .. 32 loop
    select j.priority into v_priority
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and j.run_next = v_run_next and j.priority >= v_priority
    order by j.priority
    limit 1;
    if not found then
      exit when not v_run_next;
      v_run_next := false;
      v_priority := -2147483648;
      continue;
    end if;
    v_jobs := v_jobs || array(
      select (j.ctid, j.id, j.run_id, null, null,
        j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
        null, null)::_qwf.picked
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = v_run_next and j.priority = v_priority
        and j.id <> all (p_picked) and _qwf.fits(j, p_worker, p_now)
      order by j.position desc
      limit p_count - cardinality(v_jobs)
      for no key update skip locked);
    if cardinality(v_jobs) = p_count then
      return v_jobs;
    end if;
    v_priority := v_priority + 1;
  end loop;
  return v_jobs || _qwf.pick_next(
    p_queue, p_worker, p_now, p_count - cardinality(v_jobs), false,
    p_picked || array(select p.id from unnest(v_jobs) p));
end $$;

-- Picks jobs for a worker with a loaded model: first those with run_next, then those that need
-- the model. Walks along jobs_claim, over the jobs with run_next only, and along
-- jobs_claim_lane.
-- Locks: queued jobs that nobody else has locked.
create function _qwf.pick_warm(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_count int)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_next _qwf.picked[];
  v_jobs _qwf.picked[];
begin
  v_run_next := array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and j.run_next
      and _qwf.fits(j, p_worker, p_now)
    order by j.priority, j.position
    limit p_count
    for no key update skip locked);
  v_jobs := array(
    select (j.ctid, j.id, j.run_id, null, null,
      j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
      null, null)::_qwf.picked
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
      and j.required_model = p_worker.current_model
      and coalesce(j.limit_by, j.required_model) = p_worker.current_model
      and _qwf.fits(j, p_worker, p_now)
    order by j.limit_by, j.priority, j.position
    limit p_count - cardinality(v_run_next)
    for no key update skip locked);
  return v_run_next || v_jobs;
end $$;

-- Returns the next queued jobs that fit a worker, of one limit or without a limit, in claim
-- order. Locks nothing. Walks along the index of the jobs asked for, and passes only those that
-- do not fit.
create function _qwf.peek(
  p_queue text, p_limit text, p_worker qwf.workers, p_now timestamptz, p_count int,
  p_light_only boolean)
returns setof qwf.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_limit is null then
    return query
    select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position limit p_count;
  else
    return query
    select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by = p_limit
      and j.limit_place is null and coalesce(j.limit_by, j.required_model) = p_limit
      and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position limit p_count;
  end if;
end $$;
