-- Queued jobs that no live worker of their queue can take.

-- Finds queued jobs that no live worker of their queue could take, at the head of queues. Looks
-- at the first look_at jobs of each queue, and at the first job of each priority and limit
-- (_queue_heads), however many are queued. A job that nobody can take comes there in time,
-- because the others are taken. Leaves out queues that are paused or that nobody serves.
create function qwf.find_unassignable(look_at int default 100) returns setof qwf.unassignable_jobs
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  if coalesce(find_unassignable.look_at not between 1 and 10000, true) then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('look_at %s', find_unassignable.look_at),
      hint = 'give a number from 1 to 10000';
  end if;
  return query
  with live (queue, worker) as materialized (
    select w.queue, w from qwf.workers w cross join qwf.settings s
    where w.stopped_at is null and w.last_seen > v_now - s.worker_stale
      and not exists (
        select from qwf.switched_off o where o.host = w.host and o.queue = w.queue)
  ), head (id) as (
    select h.id from qwf.queues q
    cross join lateral (
      (select j.id from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by is null
      order by j.run_next desc, j.priority, j.position limit find_unassignable.look_at)
      union
      select f.id from _qwf.queue_heads(q.name) f) h
    where not q.paused and q.name in (select l.queue from live l)
  )
  select j.id, j.run_id, j.node_id, j.task, j.queue, j.required_model, j.vram_mb, j.requires,
    v_now - j.queued_at
  from head h
  join qwf.jobs j on j.id = h.id
  where not exists (select from live l where l.queue = j.queue and _qwf.can_run(j, l.worker))
    and not exists (select from live l
      where l.queue = j.queue and j.task = any ((l.worker).held_tasks))
  order by j.queued_at, j.id;
end $$;
comment on function qwf.find_unassignable is
  'Finds jobs of unassignable_jobs that are among the first look_at of their queue, the longest '
  'waiting first, as fast with a million jobs queued as with none. It leaves out queues that are '
  'paused or that nobody serves. QW005 for an invalid bound.';
call _qwf.allow('qwf.find_unassignable', 'qwf_viewer');

-- Tells of queued jobs that no live worker of their queue can run. Once for each job, until it
-- is claimed or ends, or needs something else. Looks at the first 20 jobs of each queue that
-- somebody serves, and tells of 20 in a look. A job that has waited for less than a minute is
-- left out, and so is one that a worker could run that stopped a minute ago: it may be starting
-- again. The engine's own queues, qwf.*, are not judged: an alert about an alert that nobody can
-- send would be one more of these.
-- Locks: rows of open_states; the caller has locked the row of _qwf.judged.
create function _qwf.judge_unassignable(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_count int;
begin
  delete from _qwf.open_states o
  where o.kind = 'cannot_run_anywhere' and not exists (
    select from qwf.jobs j
    where j.id = o.subject::bigint and j.status = 'queued'
      and o.names = jsonb_build_object('queue', j.queue, 'project', j.project,
        'model', j.required_model, 'vram_mb', j.vram_mb, 'requires', j.requires));
  with found as materialized (
    select j.id, j.run_id, jsonb_build_object('queue', j.queue, 'project', j.project,
        'model', j.required_model, 'vram_mb', j.vram_mb, 'requires', j.requires) as needs,
      (select left(format('worker %s: %s', f.worker, f.reasons[1]), 500)
      from _qwf.why_unfit(j, p_now) f limit 1) as why
    from qwf.find_unassignable(20) u join qwf.jobs j on j.id = u.id
    where u.waited >= interval '1 min' and j.queue not like 'qwf.%'
      and not exists (
        select from _qwf.open_states o
        where o.kind = 'cannot_run_anywhere' and o.subject = j.id::text)
      and not exists (
        select from qwf.workers w
        where w.queue = j.queue and w.stopped_at > p_now - interval '1 min' and _qwf.can_run(j, w))
    order by j.id
    limit 20
  ), marked as (
    insert into _qwf.open_states (kind, subject, since, names)
    select 'cannot_run_anywhere', f.id::text, p_now, f.needs from found f
  )
  insert into _qwf.event_log (at, kind, run_id, job_id, detail)
  select p_now, 'cannot_run_anywhere', f.run_id, f.id,
    jsonb_strip_nulls(f.needs || jsonb_build_object('error', f.why))
  from found f;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
