-- Deploy qwf:functions/late/find_unassignable
-- Purpose: Finds queued jobs that no live worker of their queue could take, at the head of queues.
-- Guarantees: Looks at the first look_at jobs of each queue, and at the first job of each priority
--   and limit (_queue_heads), however many are queued. A job that nobody can take comes there in
--   time, because the others are taken. Leaves out queues that are paused or that nobody serves.

begin;

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

commit;
