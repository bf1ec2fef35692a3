-- Deploy qwf:functions/metrics/_upkeep_metrics
-- Purpose: Returns the figures of what ticks do: events, and schedules.
-- Called by: metrics_of.

begin;

create function _qwf.upkeep_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, '{}'::text[], m.value, 'gauge', m.help
  from (
    select count(*) filter (where o.poisoned_at is null) as waiting,
      count(o.poisoned_at) as poisoned,
      min(o.created_at) filter (where o.poisoned_at is null) as since
    from qwf.outbox o) o
  cross join lateral (values
    ('qwf_outbox_events', o.waiting::float8, 'Events not applied yet.'),
    ('qwf_outbox_oldest_seconds', coalesce(date_part('epoch', qwf.now() - o.since), 0),
      'Age of the oldest of them.'),
    ('qwf_outbox_poisoned', o.poisoned::float8, 'Events given up on.')
  ) m (name, value, help)
  union all
  select 'qwf_tick_age_seconds', '{}',
    coalesce(date_part('epoch', qwf.now()) - nullif(t.last_value, 0) / 1000.0, 'infinity'), 'gauge',
    'Time since the last tick; +Inf if there was none.'
  from qwf.last_tick t
  union all
  select 'qwf_schedules_late', '{}', count(*), 'gauge',
    'Schedules that are more than a minute late.'
  from qwf.schedules s
  where s.next_at < qwf.now() - interval '1 min'
  union all
  select m.name, array['name', s.name], date_part('epoch', m.at), 'gauge', m.help
  from (select) one
  left join qwf.schedule_overview s on true
  cross join lateral (values
    ('qwf_schedule_last_success_timestamp_seconds', s.last_success_at,
      'When the newest job or run of the schedule that completed has ended.'),
    ('qwf_schedule_next_timestamp_seconds', s.next_at, 'When the schedule is due next.')
  ) m (name, at, help)
$$;

commit;
