-- Reasons why no worker has claimed a job.

-- Returns why nobody has claimed a queued job. First what holds it back for every worker; then
-- the three workers that come nearest, with what each lacks; if one could take it, what comes
-- before it.
create function _qwf.why_unclaimed(p_job qwf.jobs, p_now timestamptz) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_live text[];
  v_able text[];
  v_foreign boolean;  -- all of them work for other projects
begin
  return query select * from _qwf.why_held(p_job, p_now);
  if found and not p_job.run_next and exists (
    select from qwf.held_tasks h
    where h.queue = p_job.queue and h.task = p_job.task and h.until is not null)
  then
    return;
  end if;
  if starts_with(p_job.queue, 'qwf.') then  -- the engine serves it
    if not found then
      return next 'it is a run that starts with the next tick';
    end if;
    return;
  end if;
  select array_agg(u.worker), array_agg(u.worker) filter (where u.reasons = '{}'),
    bool_and(coalesce(u.reasons[1] ^@ 'it works for ', false))
    into v_live, v_able, v_foreign
  from _qwf.why_unfit(p_job, p_now) u;
  if v_live is null then
    return next format(
      'no live worker serves queue %1$s: start one with qwf agent --queue %1$s%2$s',
      p_job.queue, case when p_job.task = 'command' then ' --allow-commands DIR' end);
  elsif v_able is null then
    if v_foreign then
      return next format(case p_job.project
        when '' then 'no worker of queue %1$s takes jobs without a project'
        else 'no worker of project %2$s serves queue %1$s' end
        || ': start one with qwf agent --queue %1$s%3$s',
        p_job.queue, p_job.project, coalesce(' --project ' || nullif(p_job.project, '')));
    end if;
    return query
    select format('worker %s cannot take it: %s', u.worker, array_to_string(u.reasons, ', '))
    from _qwf.why_unfit(p_job, p_now) u
    limit 3;
  else
    return query select * from _qwf.why_waiting(p_job, v_able, p_now);
  end if;
end $$;

-- Returns what keeps a queued job from being handed out to any worker.
create function _qwf.why_held(p_job qwf.jobs, p_now timestamptz) returns setof text
language sql stable
as $$
  select format('queue %s is paused: select qwf.resume_queue(%L)', q.name, q.name)
  from qwf.queues q
  where q.name = p_job.queue and q.paused
  union all
  select format('%s; mend it, then: qwf queue resume %s --task %s',
    _qwf.spell_hold(h, h.until::text), h.queue, h.task)
  from qwf.held_tasks h
  where h.queue = p_job.queue and h.task = p_job.task and h.until is not null and not p_job.run_next
  union all
  select format('it expired at %s, before it was started: the next tick() cancels it',
    p_job.expires_at)
  where p_job.attempt = 0 and p_job.expires_at <= p_now
  union all
  select format('it waits until job %s (%s) has ended, which has the same key', o.id, o.status)
  from qwf.jobs o
  where p_job.key_state <> 's' and p_job.key is not null
    and o.id = _qwf.started_with_key(p_job.project, p_job.task, p_job.key, false)
  union all
  select format('an open transaction holds it: process %s of %s, for %s s', a.pid, a.usename,
    round(extract(epoch from p_now - a.xact_start)))
  from qwf.jobs j
  join pg_stat_activity a on a.backend_xid in (select h from _qwf.holders(j.xmax) h)
  where j.id = p_job.id and j.xmax <> '0'::xid and a.datid = (
    select d.oid from pg_database d where d.datname = current_database())
  union all
  select format('limit %s is held until %s, by %s', h.name, h.until,
    coalesce('job ' || h.job_id, quote_ident(h.login)))
  from qwf.limit_holds h
  where h.until > p_now and h.name in (p_job.limit_by, 'queue:' || p_job.queue,
    case when p_job.limit_place is not null then split_part(p_job.limit_by, ':', 1) end)
  union all
  select format('queue %s is full, %s', p_job.queue, f.why)
  from _qwf.why_full('queue:' || p_job.queue) f (why)
  where f.why is not null
  union all
  select format('limit %s does not exist any more: select qwf.create_limit(%L, 2)',
    p_job.limit_by, p_job.limit_by)
  where not exists (select from qwf.limits l where l.name = p_job.limit_by)
    and p_job.limit_by is not null and not _qwf.names_key(p_job.limit_by)
  union all
  select * from _qwf.why_key_closed(p_job.limit_by, p_job.limit_place, p_now)
  union all
  select format('limit %s is full, %s', p_job.limit_by, f.why)
  from _qwf.why_full(p_job.limit_by) f (why)
  where f.why is not null
  union all
  select format('all that hold limit %s wait for a place of it: %s', p_job.limit_by, s.why)
  from _qwf.why_stuck(p_job.limit_by) s (why)
  where s.why is not null
  union all
  select format('limit %s allows %s in any %s, and all are used: the next is allowed at %s', l.name,
    case l.starts when 1 then '1 start' else format('%s starts', l.starts) end, l.per,
    min(t.used_at) + l.per)
  from qwf.limits l
  join qwf.limit_starts t on t.limit_name = l.name and t.place <= l.starts
  where l.name = p_job.limit_by
  group by l.name
  having min(t.used_at) > p_now - l.per
$$;

-- Returns the transactions that may hold a row whose xmax is given: that one, or the members if
-- several share the lock and it is the number of a group of them. No row tells which of both a
-- number is, so the caller compares with open transactions. A number that is no group raises
-- nothing.
create function _qwf.holders(p_xmax xid) returns setof xid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return next p_xmax;
  if p_xmax <> '0'::xid then
    return query select m.xid from pg_get_multixact_members(p_xmax) m;
  end if;
exception
  when others then  -- no group of this number exists (any more)
    return;
end $$;

-- Returns who holds the slots of a limit if none is free.
create function _qwf.why_full(p_limit text) returns text
language sql stable
as $$
  select format('%s of %s slots are taken: %s%s', h.held, l.max_running, h.holders,
    case when h.held > 3 then ', ...' else '' end)
  from qwf.limits l
  cross join lateral (
    select count(*) as held,
      string_agg(format('job %s on %s', j.id, j.claimed_by), ', ' order by j.id)
        filter (where s.nth <= 3) as holders
    from (
      select f.job_id, row_number() over (order by f.job_id) as nth
      from qwf.limit_slots f
      where f.limit_name = l.name and f.job_id is not null
    ) s
    join qwf.jobs j on j.id = s.job_id
  ) h
  where l.name = p_limit and h.held >= l.max_running
$$;

-- Returns who holds the places of a key if none is free, and when its next job may start if its
-- rate is used.
create function _qwf.why_key_closed(p_name text, p_place bigint, p_now timestamptz)
returns setof text
language sql stable
as $$
  select format('%s has %s of %s running: %s%s', p_name, h.held, l.max_running, h.holders,
    case when h.held > 3 then ', ...' else '' end)
  from qwf.limits l
  cross join lateral (
    select count(*) as held,
      string_agg(format('job %s on %s', r.id, r.claimed_by), ', ' order by r.id)
        filter (where r.nth <= 3) as holders
    from (
      select j.id, j.claimed_by, row_number() over (order by j.id) as nth
      from qwf.jobs j
      where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = p_place
        and j.limit_by = p_name and j.status in ('queued', 'running')
    ) r
  ) h
  where p_place is not null and l.name = split_part(p_name, ':', 1) and l.keyed
    and h.held >= l.max_running
  union all
  select format('%s has used %s of %s in any %s: the next is allowed at %s', p_name, l.starts,
    case l.starts when 1 then '1 start' else format('%s starts', l.starts) end, l.per,
    k.starts[l.starts] + l.per)
  from qwf.limits l
  join qwf.limit_keys k on k.name = p_name
  where p_place is not null and l.name = split_part(p_name, ':', 1) and l.keyed
    and k.starts[l.starts] > p_now - l.per
$$;

-- Returns who holds a limit, or a key of one, if all of them wait for a place of it: runs that
-- cannot go on before another of them ends. Null as soon as one holder is not a run, or none of
-- its jobs waits for the limit.
create function _qwf.why_stuck(p_limit text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive holder as (
    select j.id, j.queue
    from qwf.limit_slots s join qwf.jobs j on j.id = s.job_id
    where s.limit_name = p_limit
    union all
    select j.id, j.queue
    from qwf.jobs j
    where _qwf.line_of(j) is null and _qwf.band_of(j) is null
      and j.limit_place = _qwf.limit_place(p_limit) and j.limit_by = p_limit
      and j.status in ('queued', 'running')
  ), below (holder, run_id) as (
    select h.id, r.id
    from holder h join qwf.runs r on r.parent_id = h.id and r.finished_at is null
    where not exists (select from holder o where o.queue <> 'qwf.runs')
    union
    select b.holder, r.id
    from below b
    join qwf.jobs j on j.run_id = b.run_id and j.queue = 'qwf.runs' and j.status = 'running'
    join qwf.runs r on r.parent_id = j.id and r.finished_at is null
  ), waiting as (
    select b.holder, min(j.id) as job_id
    from below b join qwf.jobs j on j.run_id = b.run_id
    where j.limit_by = p_limit and j.status = 'queued'
    group by b.holder
  )
  select string_agg(format('job %s waits for its own job %s', w.holder, w.job_id), ', '
    order by w.holder) filter (where w.nth <= 3) || case when count(*) > 3 then ', ...' else '' end
  from (select w.*, row_number() over (order by w.holder) as nth from waiting w) w
  having count(*) = (select count(*) from holder) and count(*) >= (
    select l.max_running from qwf.limits l
    where l.name in (p_limit, split_part(p_limit, ':', 1)) order by l.name = p_limit desc limit 1)
$$;

-- Returns why a job that some worker could take has not been taken yet. Counts at most 1000 jobs
-- ahead of it, and reads no more of the queue. Jobs whose limit is gone are not ahead: nobody
-- can claim them.
create function _qwf.why_waiting(p_job qwf.jobs, p_able text[], p_now timestamptz)
returns setof text
language sql stable
as $$
  select format('%s ahead of it in queue %s', case a.ahead
    when 0 then 'no job is' when 1 then '1 job is' when 1000 then '1000 or more jobs are'
    else format('%s jobs are', a.ahead) end, p_job.queue)
  from (
    select count(*) as ahead
    from (  -- each branch is a range of one index
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.run_next and not p_job.run_next
      union all
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = p_job.run_next and j.priority < p_job.priority
      union all
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = p_job.run_next and j.priority = p_job.priority
        and j.position < p_job.position
      union all
      select from qwf.limits l join qwf.jobs j on j.limit_by = l.name
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_place is null
        and j.run_next and not p_job.run_next
      union all
      select from qwf.limits l join qwf.jobs j on j.limit_by = l.name
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_place is null
        and j.run_next = p_job.run_next and j.priority < p_job.priority
      union all
      select from qwf.limits l join qwf.jobs j on j.limit_by = l.name
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_place is null
        and j.run_next = p_job.run_next and j.priority = p_job.priority
        and j.position < p_job.position
      limit 1000
    ) j
  ) a
  where p_job.limit_place is null
  union all
  select format('%s of %s %s ahead of it, and the keys of queue %s take turns', case k.ahead
    when 0 then 'no job' when 1 then '1 job' when 1000 then '1000 or more jobs'
    else format('%s jobs', k.ahead) end, p_job.limit_by,
    case when k.ahead < 2 then 'is' else 'are' end, p_job.queue)
  from (
    select count(*) as ahead from (
      select from qwf.jobs j
      where _qwf.line_of(j) = p_job.queue and _qwf.band_of(j) = _qwf.band_of(p_job)
        and j.limit_place = p_job.limit_place and j.position < p_job.position
        and j.status in ('queued', 'running')
      limit 1000) j
  ) k
  where p_job.limit_place is not null
  union all
  select format('worker %s holds %s and runs at most %s at once', w.id,
    case r.held when 1 then '1 job' else format('%s jobs', r.held) end, w.slots)
  from qwf.workers w
  cross join lateral (
    select count(*) as held from qwf.jobs j where j.claimed_by = w.id and j.status = 'running'
  ) r
  where w.id = any (p_able) and r.held >= w.slots
  union all
  select format('worker %s has model %s loaded and takes its jobs first, until the head of the '
    'queue has waited %s', w.id, w.current_model, s.affinity_max_wait)
  from qwf.workers w cross join qwf.settings s
  where w.id = any (p_able) and not p_job.run_next
    and w.current_model is distinct from p_job.required_model
    and p_job.queued_at > p_now - s.affinity_max_wait
    and exists (
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.required_model = w.current_model
        and coalesce(j.limit_by, j.required_model) = w.current_model)
$$;
