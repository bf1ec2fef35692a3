-- Deploy qwf:views/queues/queue_depth
-- Purpose: How many jobs wait and run in each queue, and how many workers serve it.
-- Guarantees: As fast with a million jobs queued as with none: see count_jobs.

begin;

create view qwf.queue_depth as
select
  q.name as queue, q.paused, q.max_running, coalesce(w.workers, 0) as workers,
  coalesce(w.slots, 0) as slots, c.queued, c.estimated, c.scheduled, c.more_scheduled, c.running,
  c.head, clock.now - c.head_since as head_wait, clock.now - c.oldest_since as oldest_wait
from qwf.count_jobs() c
cross join (select qwf.now() as now) clock
join qwf.queues q on q.name = c.queue
left join (
  select w.queue, count(*) as workers, sum(w.slots) as slots
  from qwf.workers w cross join qwf.settings s
  where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    and not exists (
      select from qwf.switched_off o where o.host = w.host and o.queue = w.queue)
  group by w.queue
) w on w.queue = q.name;
comment on view qwf.queue_depth is
  'Queues with their jobs and workers, as fast with a million jobs queued as with none: '
  'select * from qwf.queue_depth.';
comment on column qwf.queue_depth.queue is 'Name of the queue.';
comment on column qwf.queue_depth.paused is 'True: no job is handed out.';
comment on column qwf.queue_depth.max_running is 'Jobs of it that may run at once; null: no limit.';
comment on column qwf.queue_depth.workers is 'Live workers that serve it and are switched on.';
comment on column qwf.queue_depth.slots is 'Bodies they run at once.';
comment on column qwf.queue_depth.queued is
  'Jobs that wait for a worker; counted exactly to 10,000.';
comment on column qwf.queue_depth.estimated is
  'True: more than 10,000 jobs are queued, and queued is an estimate (twice too high and more, if '
  'they came in bursts); count_jobs(1000000) counts.';
comment on column qwf.queue_depth.scheduled is
  'Jobs that are not due yet; if more_scheduled, at least that many.';
comment on column qwf.queue_depth.more_scheduled is
  'True: more than 10,000 jobs are scheduled in all queues together, and only the first 10,001 '
  'due were counted.';
comment on column qwf.queue_depth.running is 'Running jobs.';
comment on column qwf.queue_depth.head is
  'The first queued job in claim order, limited or not; null: none is queued.';
comment on column qwf.queue_depth.head_wait is 'How long that job has been waiting.';
comment on column qwf.queue_depth.oldest_wait is
  'How long the first job of some priority or limit has been waiting, whichever waits longest. A '
  'job that was given back hides how long those behind it have been waiting.';

commit;
