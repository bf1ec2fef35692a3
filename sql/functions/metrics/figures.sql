-- Figures of each part of the engine.

-- Returns the figures of queues: how many jobs wait and run, how long, and what is off.
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

-- Returns the figures of limits: how many jobs may run and start, and how many do.
create function _qwf.limit_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, array['limit', l.name], m.value, 'gauge', m.help
  from (select) one
  left join qwf.limits l on true
  cross join lateral (values
    ('qwf_limit_max_running', l.max_running::float8,
      'Jobs of the limit that may run at once.'),
    ('qwf_limit_running', case when l.name is not null then (
        (select count(s.job_id) from qwf.limit_slots s where s.limit_name = l.name) + (
          select count(*) from qwf.jobs j
          where l.keyed and j.limit_place is not null and j.status in ('queued', 'running')
            and _qwf.line_of(j) is null and split_part(j.limit_by, ':', 1) = l.name)
        )::float8 end,
      'Running jobs of the limit.'),
    ('qwf_limit_starts', l.starts::float8,
      'Jobs of the limit that may start in its period.'),
    ('qwf_limit_started', case when l.starts > 0 and not l.keyed then (
        select count(*) from qwf.limit_starts t
        where t.limit_name = l.name and t.used_at > qwf.now() - l.per
          and t.place <= l.starts)::float8 end,
      'Jobs of the limit that started in its last period.')
  ) m (name, value, help)
$$;

-- Returns the counters of attempts that ended, as fast after a year as after an hour.
create function _qwf.attempt_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  select m.name,
    array['queue', t.queue, 'task', t.task, 'outcome', t.outcome], m.value,
    'counter', m.help
  from (select) one
  left join qwf.attempt_totals t on true
  cross join lateral (values
    ('qwf_attempts_total', t.count::float8, 'Attempts that ended, by outcome.'),
    ('qwf_attempt_wait_seconds_total', t.wait_seconds, 'Sum of their waiting times.'),
    ('qwf_attempt_run_seconds_total', t.run_seconds, 'Sum of their run times.')
  ) m (name, value, help)
$$;

-- Returns the figures of runs, and of the questions that people are asked. Counts open runs. Of
-- those that ended it counts up to 10,000; if there are more, it takes their number from the
-- statistics of the server.
create function _qwf.run_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  with open as materialized (
    select r.status, count(*) as runs from qwf.runs r
    where r.status in ('queued', 'running', 'awaiting_input') group by r.status
  ), ended as materialized (
    select e.status, count(*) as runs
    from (select r.status from qwf.runs r where r.finished_at is not null limit 10001) e
    group by e.status
  ), guessed as materialized (
    select v.status, greatest(c.reltuples, 0) * v.part as runs
    from pg_catalog.pg_class c
    join pg_catalog.pg_stats s
      on s.schemaname = 'qwf' and s.tablename = 'runs' and s.attname = 'status'
    cross join lateral unnest(
      s.most_common_vals::text::text[], s.most_common_freqs) v (status, part)
    where c.oid = 'qwf.runs'::regclass and (select sum(e.runs) from ended e) > 10000
  )
  select 'qwf_runs', array['status', s.status::text], round(greatest(
      coalesce(o.runs, e.runs, 0), g.runs)::numeric), 'gauge',
    'Runs in the database, by status; those that ended are estimated from 10,000 on.'
  from unnest(enum_range(null::qwf.run_status)) s (status)
  left join open o on o.status = s.status
  left join ended e on e.status = s.status
  left join guessed g on g.status = s.status::text
    and s.status not in ('queued', 'running', 'awaiting_input')
  union all
  select m.name, '{}', m.value, 'gauge', m.help
  from (
    select count(*) as open, coalesce(max(date_part('epoch', i.age)), 0) as oldest
    from qwf.pending_inputs i) i
  cross join lateral (values
    ('qwf_pending_inputs', i.open::float8, 'Questions that wait for a person.'),
    ('qwf_pending_input_oldest_seconds', i.oldest, 'Age of the oldest question.')
  ) m (name, value, help)
$$;

-- Returns the figures of workers: their states, versions, switches, and room for files.
create function _qwf.worker_metrics() returns setof _qwf.metric
language sql stable
as $$
  select 'qwf_off_seconds', array['host', o.host, 'queue', o.queue],
    date_part('epoch', qwf.now() - c.updated_at), 'gauge',
    'Time since the order to be off last changed.'
  from (select) one
  left join (
    qwf.switched_off o
    join qwf.worker_controls c on c.host_label = o.host and c.queue = o.queue) on true
  union all
  select 'qwf_schema_info', array['version', qwf.version()], 1, 'gauge',
    '1 for the version of the schema.'
  union all
  select 'qwf_worker_versions', array['version', v.version], v.workers, 'gauge',
    'Live workers, by version of the agent.'
  from (select) one
  left join (
    select coalesce(f.version, '') as version, count(*) as workers from qwf.worker_overview f
    where f.state not in ('dead', 'stopped')
    group by f.version) v on true
  union all
  select 'qwf_out_root_free_bytes', array['host', r.host, 'out_root', r.out_root],
    r.free, 'gauge', 'What bodies may still write there.'
  from (select) one
  left join (
    select w.host, w.out_root, min(jsonb_path_query_first(
      w.stats, '$.out_free_bytes ? (@ >= 0 && @ < 1e18)')::numeric) as free
    from qwf.workers w join qwf.worker_overview f on f.worker = w.id
    where f.state not in ('dead', 'stopped') and w.out_root is not null
    group by w.host, w.out_root) r on true
  union all
  select 'qwf_unreported_bodies', array['host', u.host], u.reports, 'gauge',
    'Ended bodies whose reports the database refuses.'
  from (select) one left join _qwf.unreported() u on true
  union all
  select 'qwf_workers', array['host', s.host, 'queue', s.queue, 'state', s.state],
    s.workers, 'gauge', 'Workers seen in the last day, by state.'
  from (select) one
  left join (
    select f.host, f.queue, f.state, count(*) as workers from qwf.worker_overview f
    where f.state <> 'stopped'
    group by f.host, f.queue, f.state) s on true
$$;

-- Returns the load of boxes and of their cards in the last minute. A card whose worker sends
-- what is no plain number does not hide the others. What a card sends is rounded to millionths,
-- so that a float8 can hold it.
create function _qwf.box_metrics() returns setof _qwf.metric
language sql stable
as $$
  with newest as materialized (
    select distinct on (h.host) h.host, h.cpu_percent, h.ram_used_mb, h.ram_total_mb,
      h.swap_used_mb, h.gpus
    from qwf.host_metrics h
    where h.sampled_at > qwf.now() - interval '1 min'
    order by h.host, h.sampled_at desc
  )
  select m.name, array['host', n.host], m.value, 'gauge', m.help
  from (select) one
  left join newest n on true
  cross join lateral (values
    ('qwf_host_cpu_ratio', n.cpu_percent / 100, 'CPU use of the box, 0 to 1.'),
    ('qwf_host_memory_used_bytes', n.ram_used_mb::bigint << 20, 'Memory in use.'),
    ('qwf_host_memory_bytes', n.ram_total_mb::bigint << 20, 'Memory of the box.'),
    ('qwf_host_swap_used_bytes', n.swap_used_mb::bigint << 20, 'Swap in use.')
  ) m (name, value, help)
  union all
  select m.name, array['host', c.host, 'gpu', c.gpu],
    round(jsonb_path_query_first(c.card, m.reading)::numeric, 6) * m.unit, 'gauge', m.help
  from (select) one
  left join (
    select n.host, g.card, left(coalesce(g.card ->> 'id', (g.n - 1)::text), 100) as gpu
    from newest n cross join lateral jsonb_array_elements(n.gpus) with ordinality g (card, n)
  ) c on true
  cross join lateral (values
    ('qwf_gpu_ratio', '$.use_pct ? (@ >= 0 && @ < 1e15)'::jsonpath, 0.01,
      'Use of the card, 0 to 1.'),
    ('qwf_gpu_memory_used_bytes', '$.vram_used_mb ? (@ >= 0 && @ < 1e15)', 1048576,
      'Memory of the card in use.'),
    ('qwf_gpu_memory_bytes', '$.vram_total_mb ? (@ >= 0 && @ < 1e15)', 1048576,
      'Memory of the card.')
  ) m (name, reading, unit, help)
$$;

-- Returns the figures of model servers.
create function _qwf.model_server_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, array['host', s.host, 'queue', s.queue, 'server', s.server],
    m.value, m.kind, m.help
  from (select) one
  left join qwf.server_overview s on true
  cross join lateral (values
    ('qwf_server_up', (s.state = 'ready')::int::float8, 'gauge',
      '1 while the model server is ready.'),
    ('qwf_server_inflight', s.inflight::float8, 'gauge', 'Jobs that use it now.'),
    ('qwf_server_starts_total', s.starts::float8, 'counter', 'Times its agent has started it.'),
    ('qwf_server_crashes_total', s.crashes::float8, 'counter', 'Times it ended by itself.'),
    ('qwf_server_load_seconds', s.load_s::float8, 'gauge', 'How long its last start took.'),
    ('qwf_server_tokens_total', s.tokens::float8, 'counter',
      'Tokens generated for completed jobs.'),
    ('qwf_server_prompt_tokens_total', s.prompt_tokens::float8, 'counter',
      'Tokens of their prompts.')
  ) m (name, value, kind, help)
$$;

-- Returns the figures of what ticks do: events, and schedules.
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

-- Returns what happened, and of what somebody hears: events by kind, how late they get their
-- numbers, open alerts, and messages that were not delivered. Names 200 rules, those of
-- administrators first, by name; the others are added up as other. Events count when tick() has
-- learned from them, a moment after they get their numbers.
create function _qwf.event_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  select 'qwf_events_total', array['kind', t.kind], t.count, 'counter',
    'Events that have a number, by kind.'
  from (select) one
  left join _qwf.event_totals t on true
  union all
  select 'qwf_feed_lag_seconds', '{}', coalesce(date_part('epoch', qwf.now() - (
      select e.at from _qwf.event_log e where e.seq is null order by e.id limit 1)), 0), 'gauge',
    'Age of the oldest event without a number.'
  union all
  select 'qwf_alerts_open', array['rule', o.rule], o.alerts, 'gauge',
    'Alerts that are open, by rule.'
  from (select) one
  left join (
    select coalesce(n.name, 'other') as rule, count(c.rule) as alerts
    from qwf.alerts a
    left join (
      select x.name from qwf.alerts x order by x.notify is not null, x.name limit 200) n
      on n.name = a.name
    left join qwf.open_alerts c on c.rule = a.name and c.opened_at is not null
      and c.closed_at is null
    group by 1) o on true
  union all
  select 'qwf_alert_failures_total', '{}', coalesce(sum(t.failed_alerts), 0), 'counter',
    'Rules that could not be applied, and messages that were not delivered.'
  from _qwf.event_totals t
$$;

-- Returns what is late, and when workflows last succeeded. Names the 200 workflows and schedules
-- that come first by name; the others have no figure of their own. Reads one row for each, and
-- the newest 100,000 open runs.
create function _qwf.late_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  select m.name, array['workflow', w.name], m.value, 'gauge', m.help
  from (select) one
  left join (
    select u.name, u.last_success, u.last_seconds, coalesce(l.runs, 0) as late
    from (
      select x.name, x.last_success, x.last_seconds from qwf.usual_times x
      where x.kind = 'run' order by x.name limit 200) u
    left join (
      select r.workflow, count(*) as runs
      from (
        select o.workflow, o.late_at from qwf.runs o
        where o.status in ('queued', 'running', 'awaiting_input')
        order by o.id desc limit 100000) r
      where r.late_at is not null group by r.workflow) l on l.workflow = u.name) w on true
  cross join lateral (values
    ('qwf_workflow_last_success_timestamp_seconds', date_part('epoch', w.last_success),
      'When a run of the workflow last completed.'),
    ('qwf_workflow_last_seconds', w.last_seconds::float8,
      'How long the run took that ended last.'),
    ('qwf_workflow_late', w.late::float8, 'Late runs, of the newest 100,000 open ones.')
  ) m (name, value, help)
  union all
  select m.name, array['name', s.name], m.value::float8, 'counter', m.help
  from (select) one
  left join (
    select s.name, s.fired, s.skipped, s.failed from qwf.schedules s
    where s.backfill_of is null order by s.name limit 200) s on true
  cross join lateral (values
    ('qwf_schedule_fired_total', s.fired, 'Times that the schedule fired.'),
    ('qwf_schedule_skipped_total', s.skipped, 'Times that were left out.'),
    ('qwf_schedule_failed_total', s.failed, 'Times that could not be enqueued.')
  ) m (name, value, help)
  union all
  select 'qwf_troubles', array['kind', o.kind], o.troubles, 'gauge',
    'What is wrong now and was told by an event of this kind.'
  from (select) one
  left join (
    select s.kind, count(*) as troubles from _qwf.open_states s group by s.kind) o on true
$$;
