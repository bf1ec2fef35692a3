-- Claims of jobs that share something: slots, starts, a model, a better box. Locks: as claim.

create type _qwf.permit as (limit_name text, slot int, start int);
comment on type _qwf.permit is
  'The parts of a limit that a job needs before it is handed out: a locked free slot, and a locked'
  ' start (null: the limit has no rate).';

create type _qwf.special_pick as (
  jobs _qwf.picked[], permits _qwf.permit[], room int, rated bigint[],
  capped boolean, limited boolean, model text);
comment on type _qwf.special_pick is
  'The jobs that _pick_special picked, the permits that it locked for them, how many jobs '
  'there was room for, and the ids of those whose limit has a rate; capped: they are as many as '
  'the worker could begin, and there may be more; '
  'limited: there is something to write when the jobs run; '
  'model: the loaded model whose jobs come first, null: none.';

-- Picks the jobs of a claim that needs more than the ordinary walk: limits, placement pack,
-- light jobs only, a loaded model, an overflow worker, a queue with a floor. Locks the permits
-- of limits before the jobs. jobs is empty if the claim leaves the queue to a better worker, or
-- if all its slots are taken; then room is 0. At most p_startable (null: 1) of the jobs have a
-- limit with a rate.
-- Locks: starts and free slots of limits, keys, queued jobs; skips those that somebody else has
--   locked.
-- Notifies: the better worker.
create function _qwf.pick_special(
  p_queue text, p_terms _qwf.claim_terms, p_now timestamptz, p_count int, p_light_only boolean,
  p_startable int)
returns _qwf.special_pick
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pick _qwf.special_pick := ('{}', '{}', p_count, '{}', false, false, null);
  v_worker qwf.workers := p_terms.worker;
  v_permits _qwf.permit[] := '{}';
  v_startable int := coalesce(p_startable, 1);
  v_rates boolean;  -- some of the jobs may have a limit with a rate
begin
  if p_terms.packed and _qwf.yields(p_queue, v_worker, p_now) then
    v_pick.room := 0;
    return v_pick;
  end if;
  if p_terms.max_running is not null then
    v_pick.permits := _qwf.lock_permits('queue:' || p_queue, p_now, p_count);
    v_pick.room := cardinality(v_pick.permits);
    if v_pick.room = 0 then
      return v_pick;
    end if;
  end if;
  if p_terms.limited then
    v_permits := _qwf.lock_wanted_permits(
      p_queue, v_worker, p_now, v_pick.room, p_light_only, v_startable);
  end if;
  if p_terms.keyed is not true or p_terms.crowded or v_permits <> '{}' or exists (
    select from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null)
  then
    v_pick := _qwf.pick(v_pick, p_queue, v_worker, p_now, p_light_only, v_permits);
    v_pick.permits := v_pick.permits || v_permits;
  end if;
  v_rates := exists (select from unnest(v_permits) p where p.start is not null)
    or p_terms.keyed and exists (select from qwf.limits l where l.keyed and l.starts is not null);
  if p_terms.keyed then
    v_pick.jobs := _qwf.pick_keyed(p_queue, v_worker, p_now, v_pick.room, p_light_only,
      case when v_rates then v_startable end, v_pick.jobs, v_pick.model);
  end if;
  if v_rates then
    v_pick.rated := array(
      select p.id from unnest(v_pick.jobs) p
      where exists (
        select from qwf.jobs j
        join qwf.limits l on l.starts is not null
          and l.name = case when j.limit_place is null then j.limit_by
            else split_part(j.limit_by, ':', 1) end
        where j.id = p.id));
    v_pick.capped := v_pick.rated <> '{}' and cardinality(v_pick.rated) = v_startable;
  end if;
  v_pick.limited := v_pick.rated <> '{}' or v_pick.permits <> '{}';
  return v_pick;
end $$;

-- True when a worker should leave the next job of a queue with placement pack to a better
-- worker, which it wakes: one with the higher rank, then more slots, then the first name of its
-- host. Yields only to one that sleeps, is on, and fits the first job that this worker could
-- take, while that job has waited less than settings.pack_patience. A worker to which two jobs
-- were left in vain does not count until it claims. Looks at the first 64 jobs without a limit.
-- Locks: the row in sleepers of this worker, or of one that did not answer, if it is free.
-- Notifies: the channel of the better worker.
create function _qwf.yields(p_queue text, p_worker qwf.workers, p_now timestamptz) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job qwf.jobs;
  v_better text;
  v_in_vain boolean;
begin
  if p_worker.id is null then
    return false;  -- not registered: nobody knows how good it is
  end if;
  update qwf.sleepers s set unanswered = 0
  where s.ctid = (
    select f.ctid from qwf.sleepers f
    where f.queue = p_queue and f.worker = p_worker.id and f.unanswered > 0
    for update skip locked);
  select (h.job).* into v_job
  from (
    select j as job from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position
    limit 64
  ) h
  where _qwf.fits(h.job, p_worker, p_now)
  limit 1;
  if not found then
    return false;
  end if;
  v_in_vain := v_job.queued_at <= p_now - (select s.pack_patience from qwf.settings s);
  select s.worker into v_better
  from qwf.sleepers s
  join qwf.workers w on w.id = s.worker
  where s.queue = p_queue and s.since > p_now - interval '15 s' and w.stopped_at is null
    and s.unanswered < 2
    and (w.rank, w.slots, p_worker.host) > (p_worker.rank, p_worker.slots, w.host)
    and not exists (
      select from qwf.switched_off o where o.host = w.host and o.queue = p_queue)
    and _qwf.fits(v_job, w, p_now)
  order by w.rank desc, w.slots desc, w.host, s.worker
  limit 1;
  if v_better is null then
    return false;
  elsif v_in_vain then
    update qwf.sleepers s set unanswered = s.unanswered + 1
    where s.ctid = (
      select f.ctid from qwf.sleepers f where f.queue = p_queue and f.worker = v_better
      for update skip locked);
    return false;
  end if;
  perform pg_notify(qwf.wake_channel(v_better), p_queue);
  return true;
end $$;

-- Picks the jobs of a claim. Chooses the walks for this worker, and sorts what they found.
-- Order: run_next; the model that the worker has loaded, until the first job it could take has
-- waited for affinity_max_wait; priority; first in, first out (newest first for an overflow
-- worker, whose rank is negative). Only _pick_limited picks limited jobs, and _pick_keyed those
-- of limits that count by key, later.
-- Locks: queued jobs that nobody else has locked.
create function _qwf.pick(
  p_pick _qwf.special_pick, p_queue text, p_worker qwf.workers, p_now timestamptz,
  p_light_only boolean, p_permits _qwf.permit[])
returns _qwf.special_pick
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pick _qwf.special_pick := p_pick;
  v_limited _qwf.picked[] := '{}';
  v_jobs _qwf.picked[] := '{}';
  v_ids bigint[] := '{}';
  v_warm boolean := false;
begin
  if p_permits <> '{}' then
    v_limited := _qwf.pick_limited(p_queue, p_worker, p_now, p_light_only, p_permits);
  end if;
  if p_worker.current_model is not null and not p_light_only then
    v_warm := _qwf.head_waited(
      p_queue, p_worker, p_now, array(select p.id from unnest(v_limited) p))
      < (select s.affinity_max_wait from qwf.settings s);
  end if;
  if v_warm then
    v_pick.model := p_worker.current_model;
    v_jobs := _qwf.pick_warm(p_queue, p_worker, p_now, p_pick.room);
    v_ids := array(select p.id from unnest(v_jobs) p);
  end if;
  if cardinality(v_jobs) < p_pick.room then
    v_jobs := v_jobs || case
      when p_worker.rank < 0 and not p_light_only then _qwf.pick_newest(
        p_queue, p_worker, p_now, p_pick.room - cardinality(v_jobs), v_ids)
      else _qwf.pick_next(
        p_queue, p_worker, p_now, p_pick.room - cardinality(v_jobs), p_light_only, v_ids)
    end;
  end if;
  if v_limited <> '{}' then
    v_jobs := array(
      select p
      from unnest(v_limited || v_jobs) p
      cross join lateral (
        select j.run_next, j.required_model, j.priority, j.position
        from qwf.jobs j where j.id = p.id offset 0) j
      order by j.run_next desc,
        v_warm and j.required_model = p_worker.current_model desc nulls last,
        j.priority, case when p_worker.rank < 0 then -j.position else j.position end
      limit p_pick.room);
  end if;
  v_pick.jobs := v_jobs;
  return v_pick;
end $$;

-- Picks jobs for locked permits, in claim order within each limit. Walks along jobs_claim_lane.
-- Locks: queued jobs that nobody else has locked.
create function _qwf.pick_limited(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_light_only boolean,
  p_permits _qwf.permit[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit record;
  v_jobs _qwf.picked[] := '{}';
begin
  for v_limit in
    select p.limit_name as name, count(*) as permits from unnest(p_permits) p group by p.limit_name
  loop
    v_jobs := v_jobs || array(
      select (j.ctid, j.id, j.run_id, null, null,
        j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
        null, null)::_qwf.picked
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = v_limit.name
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = v_limit.name
        and (j.light or not p_light_only) and _qwf.fits(j, p_worker, p_now)
      order by j.run_next desc, j.priority, j.position
      limit v_limit.permits
      for no key update skip locked);
  end loop;
  return v_jobs;
end $$;

-- Returns how long the first job that this worker could take has been queued. Locks nothing. A
-- limited job counts only if there is a permit for it.
create function _qwf.head_waited(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_limited bigint[])
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select p_now - j.queued_at
    from (
      select f.* from _qwf.peek(p_queue, null, p_worker, p_now, 1, false) f
      union all
      select l.* from qwf.jobs l where l.id = any (p_limited)
    ) j
    order by j.run_next desc, j.priority, j.position
    limit 1);
end $$;
