-- Deploy qwf:views/queue_depth
-- requires: schema/queues
-- requires: schema/jobs
-- requires: schema/workers
-- requires: schema/settings
-- requires: functions/now
-- Purpose: What waits and runs in each queue, and who serves it.

begin;

create view qwf.queue_depth as
select
  q.name as queue, q.paused, w.workers, w.slots, d.queued, d.scheduled, r.running,
  qwf.now() - d.oldest as oldest_wait
from qwf.queues q
cross join lateral (
  select count(*) filter (where j.status = 'queued') as queued,
    count(*) filter (where j.status = 'scheduled') as scheduled,
    min(j.queued_at) filter (where j.status = 'queued') as oldest
  from qwf.jobs j
  where j.queue = q.name and j.status in ('queued', 'scheduled')
) d
cross join lateral (
  select count(*) as running from qwf.jobs j where j.status = 'running' and j.queue = q.name
) r
cross join lateral (
  select count(*) as workers, coalesce(sum(w.slots), 0) as slots
  from qwf.workers w cross join qwf.settings s
  where w.queue = q.name and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
) w;
comment on view qwf.queue_depth is
  'Queues with what waits and runs: select * from qwf.queue_depth.';
comment on column qwf.queue_depth.queue is 'Name of the queue.';
comment on column qwf.queue_depth.paused is 'Nothing is handed out.';
comment on column qwf.queue_depth.workers is 'Live workers that serve it.';
comment on column qwf.queue_depth.slots is 'Bodies they run at once.';
comment on column qwf.queue_depth.queued is 'Jobs a worker could take now.';
comment on column qwf.queue_depth.scheduled is 'Jobs whose time has not come.';
comment on column qwf.queue_depth.running is 'Jobs that run.';
comment on column qwf.queue_depth.oldest_wait is 'How long the oldest queued job has been waiting.';

commit;
