-- Deploy qwf:views/queue_depth
-- Purpose: How many jobs wait and run in each queue, and how many workers serve it.

begin;

create view qwf.queue_depth as
with waiting (queue, status, jobs, oldest) as materialized (  -- each along an index of its own
  select j.queue, 'queued', count(*), min(j.queued_at)
  from qwf.jobs j where j.status = 'queued' and j.limit_by is null group by j.queue
  union all
  select j.queue, 'queued', count(*), min(j.queued_at)
  from qwf.jobs j where j.status = 'queued' and j.limit_by is not null group by j.queue
  union all
  select j.queue, 'scheduled', count(*), null
  from qwf.jobs j where j.status = 'scheduled' group by j.queue
  union all
  select j.queue, 'running', count(*), null
  from qwf.jobs j where j.status = 'running' group by j.queue
)
select
  q.name as queue, q.paused, q.max_running, w.workers, w.slots, d.queued, d.scheduled, d.running,
  qwf.now() - d.oldest as oldest_wait
from qwf.queues q
cross join lateral (
  select
    coalesce(sum(j.jobs) filter (where j.status = 'queued'), 0)::bigint as queued,
    coalesce(sum(j.jobs) filter (where j.status = 'scheduled'), 0)::bigint as scheduled,
    coalesce(sum(j.jobs) filter (where j.status = 'running'), 0)::bigint as running,
    min(j.oldest) as oldest
  from waiting j
  where j.queue = q.name
) d
cross join lateral (
  select count(*) as workers, coalesce(sum(w.slots), 0) as slots
  from qwf.workers w cross join qwf.settings s
  where w.queue = q.name and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    and not exists (
      select from qwf.switched_off o where o.host = w.host and o.queue = w.queue)
) w;
comment on view qwf.queue_depth is
  'Queues with their waiting and running jobs: select * from qwf.queue_depth.';
comment on column qwf.queue_depth.queue is 'Name of the queue.';
comment on column qwf.queue_depth.paused is 'True: no job is handed out.';
comment on column qwf.queue_depth.max_running is 'Jobs of it that may run at once; null: no limit.';
comment on column qwf.queue_depth.workers is 'Live workers that serve it and are switched on.';
comment on column qwf.queue_depth.slots is 'Bodies they run at once.';
comment on column qwf.queue_depth.queued is 'Jobs that wait for a worker.';
comment on column qwf.queue_depth.scheduled is 'Jobs that are not due yet.';
comment on column qwf.queue_depth.running is 'Running jobs.';
comment on column qwf.queue_depth.oldest_wait is 'How long the oldest queued job has been waiting.';

commit;
