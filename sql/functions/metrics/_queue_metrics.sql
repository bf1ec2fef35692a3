-- Deploy qwf:functions/metrics/_queue_metrics
-- Purpose: Returns the figures of queues: how many jobs wait and run, how long, and what is off.
-- Called by: metrics_of.

begin;

create function _qwf.queue_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, array['queue', c.queue], m.value, 'gauge', m.help
  from (select) one
  left join qwf.count_jobs(100000) c on true
  cross join lateral (values
    ('qwf_queued_jobs', c.queued::float8,
      'Jobs a worker could take now; estimated from 100,000 on.'),
    ('qwf_scheduled_jobs', c.scheduled::float8,
      'Jobs whose start time is still to come; counted to 100,000 in all queues.')
  ) m (name, value, help)
  union all
  select m.name, array['queue', d.queue], m.value, 'gauge', m.help
  from (select) one
  left join qwf.queue_overview d on true
  cross join lateral (values
    ('qwf_running_jobs', d.running::float8, 'Jobs that are running.'),
    ('qwf_queue_oldest_wait_seconds',
      case when d.queue is not null then coalesce(date_part('epoch', d.oldest_wait), 0) end,
      'How long the first job of some priority or limit has waited, the longest.'),
    ('qwf_queue_head_wait_seconds',
      case when d.queue is not null then coalesce(date_part('epoch', d.head_wait), 0) end,
      'How long the next job in claim order has waited.'),
    ('qwf_queue_paused', d.paused::int::float8, '1 while the queue is paused.'),
    ('qwf_queue_slots', d.slots::float8, 'Bodies its live workers can run at once.')
  ) m (name, value, help)
  union all
  select 'qwf_queue_paused_seconds', array['queue', q.name],
    date_part('epoch', qwf.now() - q.paused_at), 'gauge', 'How long the queue has been paused.'
  from (select) one
  left join qwf.queues q on q.paused
$$;

commit;
