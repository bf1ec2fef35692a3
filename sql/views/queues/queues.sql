-- How many jobs of each queue wait and run, now and over time.

-- How many jobs wait and run in each queue, how many workers serve it, what it is set to, and
-- how its last half hour was. As fast with a million jobs queued as with none: see count_jobs,
-- which counts all queues at once, also for a reader of one. Who does not read trend, completed
-- and failed does not pay for them.
create view qwf.queue_overview as
select
  q.name as queue, q.paused, q.max_running, coalesce(w.workers, 0) as workers,
  coalesce(w.slots, 0) as slots, c.queued, c.estimated, c.scheduled, c.more_scheduled, c.running,
  c.head, clock.now - c.head_since as head_wait, clock.now - c.oldest_since as oldest_wait,
  case
    when q.paused then 'paused' when w.workers > 0 then 'on' when c.queued > 0 then 'unserved'
    else '-' end as state,
  coalesce(w.workers_off, 0) as workers_off,
  array(select (m.by_age ->> age::text)::int from generate_series(29, 0, -1) age) as trend,
  coalesce(m.completed, 0) as completed, coalesce(m.failed, 0) as failed,
  q.paused_at, q.lease, q.timeout, q.retention, q.placement, q.keep_completed, q.on_failure,
  q.created_at, coalesce(h.tasks, '{}') as held_tasks
from qwf.count_jobs() c
cross join (select qwf.now() as now) clock
join qwf.queues q on q.name = c.queue and not starts_with(q.name, 'qwf.')
left join (
  select
    w.queue, count(*) filter (where o.host is null) as workers,
    sum(w.slots) filter (where o.host is null) as slots,
    count(*) filter (where o.host is not null) as workers_off
  from qwf.workers w
  cross join qwf.settings s
  left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
  where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
  group by w.queue
) w on w.queue = q.name
left join (
  select
    m.queue, sum(m.completed)::int as completed,
    sum(m.error + m.fatal + m.tempfail + m.lost)::int as failed,
    jsonb_object_agg(floor(extract(epoch from qwf.now() - m.minute) / 60), m.queued) as by_age
  from qwf.queue_minutes m
  where m.minute > (select qwf.now() - interval '30 min')
  group by m.queue
) m on m.queue = q.name
left join (
  select h.queue, array_agg(h.task order by h.task) as tasks from qwf.held_tasks h
  where h.until is not null
  group by h.queue
) h on h.queue = q.name;
comment on view qwf.queue_overview is
  'Queues with their jobs, workers and settings, as fast with a million jobs queued as with none: '
  'select * from qwf.queue_overview.';
comment on column qwf.queue_overview.queue is 'Name of the queue.';
comment on column qwf.queue_overview.paused is 'True: no job is handed out.';
comment on column qwf.queue_overview.max_running is
  'Jobs of it that may run at once; null: no limit.';
comment on column qwf.queue_overview.workers is 'Live workers that serve it and are switched on.';
comment on column qwf.queue_overview.slots is 'Bodies they run at once.';
comment on column qwf.queue_overview.queued is
  'Jobs that wait for a worker, without those of held_tasks; counted exactly to 10,000.';
comment on column qwf.queue_overview.estimated is
  'True: more than 10,000 jobs are queued, and queued is an estimate (twice too high and more, if '
  'they came in bursts); count_jobs(1000000) counts.';
comment on column qwf.queue_overview.scheduled is
  'Jobs that are not due yet; if more_scheduled, at least that many.';
comment on column qwf.queue_overview.more_scheduled is
  'True: more than 10,000 jobs are scheduled in all queues together, and only the first 10,001 '
  'due were counted.';
comment on column qwf.queue_overview.running is 'Running jobs.';
comment on column qwf.queue_overview.head is
  'The first queued job in claim order, limited or not; null: none is queued.';
comment on column qwf.queue_overview.head_wait is 'How long that job has been waiting.';
comment on column qwf.queue_overview.oldest_wait is
  'How long the first job of some priority or limit has been waiting, whichever waits longest. A '
  'job that was lost or released hides how long those behind it have been waiting.';
comment on column qwf.queue_overview.state is
  'paused, on (a worker serves it), unserved (jobs are queued, and no worker serves it) or - (no '
  'worker, no job).';
comment on column qwf.queue_overview.workers_off is
  'Live workers that would serve it, but are switched off.';
comment on column qwf.queue_overview.trend is
  'Jobs that waited in each of the last 30 minutes, the oldest first; null: nobody looked.';
comment on column qwf.queue_overview.completed is
  'Attempts that completed in the last 30 minutes.';
comment on column qwf.queue_overview.failed is
  'Attempts that failed or were lost in the last 30 minutes.';
comment on column qwf.queue_overview.paused_at is 'Since when it is paused; null: it is not.';
comment on column qwf.queue_overview.lease is 'Lease of its jobs; null: the setting.';
comment on column qwf.queue_overview.timeout is
  'Wall-clock limit of one attempt of its jobs; null: the setting.';
comment on column qwf.queue_overview.retention is
  'How long its ended jobs are kept; null: the setting.';
comment on column qwf.queue_overview.placement is
  'Who takes a new job: spread (the first to ask) or pack (the best worker that has room).';
comment on column qwf.queue_overview.keep_completed is
  'False: a standalone job that completed leaves no row.';
comment on column qwf.queue_overview.on_failure is
  'The reaction when a standalone job that does not say it itself fails for good: fail or ask.';
comment on column qwf.queue_overview.created_at is 'When it was created.';
comment on column qwf.queue_overview.held_tasks is
  'Tasks of it that are held back because they crashed.';

-- The load of each queue, minute by minute, for charts of the last days.
create view qwf.queue_history as
select
  m.queue, m.minute, m.queued, m.running, m.head_wait_seconds, m.completed,
  m.error + m.fatal + m.tempfail + m.lost as failed, m.released, m.cancelled
from qwf.queue_minutes m;
comment on view qwf.queue_history is
  'The load of each queue, minute by minute: select * from qwf.queue_history '
  'where queue = ''gpu'' and minute > now() - interval ''1 day'' order by minute.';
comment on column qwf.queue_history.queue is 'Name of the queue.';
comment on column qwf.queue_history.minute is 'Full minute (UTC).';
comment on column qwf.queue_history.queued is
  'Jobs that waited for a worker at its first tick, an estimate above 10,000; null: nobody looked.';
comment on column qwf.queue_history.running is 'Jobs that ran; null: nobody looked.';
comment on column qwf.queue_history.head_wait_seconds is
  'How long the first job in claim order had waited, seconds; null: none waited, or nobody looked.';
comment on column qwf.queue_history.completed is 'Attempts that completed.';
comment on column qwf.queue_history.failed is 'Attempts that failed or were lost.';
comment on column qwf.queue_history.released is 'Attempts that were released.';
comment on column qwf.queue_history.cancelled is 'Attempts that were cancelled.';

-- The work of the whole fleet in each of the last 60 full minutes, for the chart of the first
-- page. 60 rows, the oldest first, and no more read than the minutes of the last hour. A minute
-- that nobody looked at has nulls.
create view qwf.last_hour as
select
  h.minute, h.queued, h.running, case when h.began < 0 then 0 else h.began end as started,
  h.completed, h.failed, h.first_wait_seconds
from (
  select
    m.minute, t.queued, t.running, t.completed, t.failed, t.first_wait_seconds,
    lead(t.running) over (order by m.minute) - t.running + t.ended as began
  from (
    select generate_series(
      date_bin('1 minute', clock.now, 'epoch') - interval '60 min',
      date_bin('1 minute', clock.now, 'epoch'), interval '1 min') as minute
    from (select qwf.now() as now) clock
  ) m
  left join lateral (
    select
      sum(q.queued)::bigint as queued, sum(q.running)::bigint as running,
      sum(q.completed)::bigint as completed,
      sum(q.error + q.fatal + q.tempfail + q.lost)::bigint as failed,
      sum(q.completed + q.error + q.fatal + q.tempfail + q.lost + q.released
        + q.cancelled)::bigint as ended,
      max(q.head_wait_seconds) as first_wait_seconds
    from qwf.queue_minutes q
    where q.minute = m.minute and not starts_with(q.queue, 'qwf.')
  ) t on true
) h
order by h.minute
limit 60;
comment on view qwf.last_hour is
  'The work of the whole fleet in each of the last 60 minutes: select * from qwf.last_hour.';
comment on column qwf.last_hour.minute is 'Full minute (UTC).';
comment on column qwf.last_hour.queued is
  'Jobs that waited for a worker at its first tick; null: nobody looked.';
comment on column qwf.last_hour.running is 'Jobs that ran; null: nobody looked.';
comment on column qwf.last_hour.started is
  'Attempts that began: how many more run at the next minute than at this one, and those that '
  'ended. Null: nobody looked at one of the two.';
comment on column qwf.last_hour.completed is 'Attempts that completed; null: nothing is stored.';
comment on column qwf.last_hour.failed is 'Attempts that failed or were lost.';
comment on column qwf.last_hour.first_wait_seconds is
  'How long the first job in claim order had waited, in the queue where it is longest, seconds; '
  'null: none waited, or nobody looked.';
