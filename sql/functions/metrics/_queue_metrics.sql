-- Deploy qwf:functions/metrics/_queue_metrics
-- Purpose: Returns the figures of queues: how many jobs wait and run, how long, and what is off.
-- Called by: metrics_of.

begin;

create function _qwf.queue_metrics() returns setof _qwf.metric
language sql stable
as $$
  with counted as materialized (
    select c.*, q.paused, q.paused_at, coalesce(w.slots, 0) as slots
    from qwf.count_jobs(100000) c
    join qwf.queues q on q.name = c.queue and not starts_with(q.name, 'qwf.')
    left join (
      select f.queue, sum(f.slots) as slots
      from qwf.workers f cross join qwf.settings s
      where f.stopped_at is null and f.last_seen > qwf.now() - s.worker_stale and not exists (
        select from qwf.switched_off o where o.host = f.host and o.queue = f.queue)
      group by f.queue) w on w.queue = c.queue
  )
  select m.name, array['queue', c.queue], m.value, 'gauge', m.help
  from (select) one left join counted c on true
  cross join lateral (values
    ('qwf_queued_jobs', c.queued::float8,
      'Jobs a worker could take now; estimated from 100,000 on.'),
    ('qwf_scheduled_jobs', c.scheduled::float8,
      'Jobs whose start time is still to come; counted to 100,000 in all queues.'),
    ('qwf_running_jobs', c.running::float8, 'Jobs that are running.'),
    ('qwf_queue_oldest_wait_seconds', case when c.queue is not null
        then coalesce(date_part('epoch', qwf.now() - c.oldest_since), 0) end,
      'How long the first job of some priority or limit has waited, the longest.'),
    ('qwf_queue_head_wait_seconds', case when c.queue is not null
        then coalesce(date_part('epoch', qwf.now() - c.head_since), 0) end,
      'How long the next job in claim order has waited.'),
    ('qwf_queue_paused', c.paused::int::float8, '1 while the queue is paused.'),
    ('qwf_queue_paused_seconds', case when c.paused
      then date_part('epoch', qwf.now() - c.paused_at) end, 'How long the queue has been paused.'),
    ('qwf_queue_slots', c.slots::float8, 'Bodies its live workers can run at once.')
  ) m (name, value, help)
$$;

commit;
