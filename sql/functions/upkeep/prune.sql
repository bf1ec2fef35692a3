-- Old data deleted, and a preview of what a shorter retention deletes. Locks: only rows that
-- nobody else has locked.

-- Deletes runs, jobs, firings and workers older than the retention, events (with alerts and
-- messages) older than settings.events_keep, expired signals and live logs, old minutes, and
-- marks of failures unchanged for 90 days. Never deletes what is live, has a running body, or
-- has events to apply. Never blocks. Attempts, answers and files go with their job, and nothing
-- else deletes them. Statistics by the hour stay.
-- Locks: terminal runs and jobs, signals, workers and minutes, that nobody else has locked.
-- Raises: QW005 for a negative bound.
create function qwf.prune(max_rows int default 1000) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_old timestamptz := v_now - (select s.retention from qwf.settings s);
  v_minutes timestamptz := (  -- not the one that is not over: each tick would write it again
    select least(v_now - s.minutes_keep, date_bin('1 minute', v_now, 'epoch')) from qwf.settings s);
  v_count int;
  v_minutes_of_hosts int;
  v_done jsonb;
begin
  perform _qwf.check_count('max_rows', prune.max_rows);
  perform _qwf.forget_logs(v_now);
  perform _qwf.close_firings();  -- before their jobs and runs are deleted
  v_done := jsonb_build_object(
    'runs', _qwf.prune_runs(prune.max_rows), 'jobs', _qwf.prune_jobs(prune.max_rows),
    'events', _qwf.prune_events(prune.max_rows), 'firings', _qwf.prune_firings(prune.max_rows),
    'alerts', _qwf.prune_alerts(v_now, prune.max_rows));
  delete from qwf.signals s
  where s.ctid = any (array(
    select o.ctid from qwf.signals o
    where o.keep_until <= v_now order by o.keep_until limit prune.max_rows for update skip locked));
  get diagnostics v_count = row_count;
  v_done := v_done || jsonb_build_object('signals', v_count);
  delete from qwf.workers w
  where w.id = any (array(
    select o.id from qwf.workers o
    where o.last_seen < v_old limit prune.max_rows for update skip locked));
  get diagnostics v_count = row_count;
  v_done := v_done || jsonb_build_object('workers', v_count);
  delete from qwf.failure_marks m
  where (m.task, m.signature) in (
    select o.task, o.signature from qwf.failure_marks o
    where o.changed_at < v_now - interval '90 d' limit prune.max_rows for update skip locked);
  delete from qwf.host_minutes h
  where h.ctid = any (array(
    select o.ctid from qwf.host_minutes o
    where o.minute < v_minutes order by o.minute limit prune.max_rows for update skip locked));
  get diagnostics v_minutes_of_hosts = row_count;
  delete from qwf.queue_minutes m
  where m.ctid = any (array(
    select o.ctid from qwf.queue_minutes o
    where o.minute < v_minutes order by o.minute limit prune.max_rows for update skip locked));
  get diagnostics v_count = row_count;
  return v_done || jsonb_build_object('minutes', v_minutes_of_hosts + v_count);
end $$;
comment on function qwf.prune is
  'Deletes what is older than the retention: ended runs with about max_rows nodes in all, and at '
  'most max_rows each of ended standalone jobs, events, firings, signals, alerts and workers; also '
  'minutes older than minutes_keep, at most max_rows each of hosts and queues. Returns how many '
  'of each.';
call _qwf.allow('qwf.prune', 'qwf_worker');

-- Deletes runs that ended longer ago than the retention, with all their nodes and the runs of
-- their steps. Leaves a run with a running body or with events to apply for later, and a run of
-- a step while the run above is not over. Deletes the oldest first, until they have p_max nodes
-- in all, and at least one run.
-- Locks: terminal runs that nobody else has locked.
create function _qwf.prune_runs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.retention from qwf.settings s);
  v_runs bigint[];
  v_jobs bigint[];
begin
  with old as materialized (
    select r.id, r.finished_at
    from qwf.runs r
    where r.finished_at < v_old
      and not exists (select from qwf.jobs j where j.run_id = r.id and j.finished_at is null)
      and not exists (
        select from qwf.outbox o where o.run_id = r.id and o.poisoned_at is null)
      and not exists (  -- another try of its step goes on with it
        select from qwf.jobs s join qwf.runs a on a.id = s.run_id
        where s.id = r.parent_id and a.finished_at is null)
    order by r.finished_at
    limit p_max
    for update of r skip locked
  ), counted as (
    select o.id, n.jobs, sum(n.jobs) over (order by o.finished_at, o.id) as total
    from old o
    cross join lateral (select count(*) as jobs from qwf.jobs j where j.run_id = o.id) n
  )
  select coalesce(array_agg(c.id), '{}') into v_runs
  from counted c
  where c.total - c.jobs < p_max;
  if v_runs = '{}' then
    return 0;
  end if;
  v_jobs := array(select j.id from qwf.jobs j where j.run_id = any (v_runs));
  perform _qwf.delete_runs_below(v_jobs), _qwf.delete_jobs(v_jobs);
  delete from qwf.outbox o where o.run_id = any (v_runs);
  delete from qwf.runs r where r.id = any (v_runs);
  return cardinality(v_runs);
end $$;

-- Deletes standalone jobs that ended longer ago than the retention of their queue. Needs no
-- index on finished jobs, which every finish would have to maintain. It looks at the next p_max
-- jobs by id and starts again when all of them are too young, because ids grow with time. So the
-- cost does not grow with the table, and every old job is found. The job for which a run waited
-- in line stays as long as the run: a retry needs it.
-- Locks: terminal jobs that nobody else has locked.
create function _qwf.prune_jobs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_retention interval := (
    select least(s.retention, min(q.retention)) from qwf.settings s, qwf.queues q
    group by s.retention);
  v_seen bigint[];
  v_oldest timestamptz;
  v_jobs bigint[];
begin
  select array_agg(w.id), min(w.created_at) into v_seen, v_oldest
  from (
    select j.id, j.created_at from qwf.jobs j
    where j.id > (select c.last_value from qwf.prune_job c)
    order by j.id
    limit p_max
  ) w;
  if v_oldest is null or v_oldest >= v_now - v_retention then
    perform setval('qwf.prune_job', 0);
    return 0;
  end if;
  perform setval('qwf.prune_job', coalesce(v_seen[p_max], 0));
  v_jobs := array(
    select j.id
    from qwf.jobs j
    cross join qwf.settings s
    left join qwf.queues q on q.name = j.queue
    where j.id = any (v_seen) and j.run_id is null
      and j.finished_at < v_now - coalesce(q.retention, s.retention)
      and not (j.queue = 'qwf.runs'
        and exists (select from qwf.runs r where r.parent_id = j.id))
    for update of j skip locked);
  perform _qwf.delete_jobs(v_jobs);
  return cardinality(v_jobs);
end $$;

-- Deletes firings older than the retention. Keeps open firings. Of a schedule that exists, keeps
-- the last 100 and the newest that completed. Looks at the next p_max firings by id, and starts
-- again when all of them are too young: the cost does not grow with the table.
-- Locks: firings that nobody else has locked.
create function _qwf.prune_firings(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.retention from qwf.settings s);
  v_seen bigint[];
  v_oldest timestamptz;
  v_deleted int;
begin
  select array_agg(w.id order by w.id), min(w.at) into v_seen, v_oldest
  from (
    select f.id, f.at from qwf.firings f
    where f.id > (select c.last_value from qwf.prune_firing c)
    order by f.id
    limit p_max
  ) w;
  if v_oldest is null or v_oldest >= v_old then
    perform setval('qwf.prune_firing', 0);
    return 0;
  end if;
  perform setval('qwf.prune_firing', coalesce(v_seen[p_max], 0));
  delete from qwf.firings f
  where f.id = any (array(
    select o.id
    from (
      select d.schedule, s.name is not null as there,
        coalesce((
          select k.id from qwf.firings k where k.schedule = d.schedule
          order by k.id desc offset 99 limit 1), 0) as kept_from,
        (
          select k.id from qwf.firings k
          where coalesce(k.backfill_of, k.schedule) = d.schedule and k.result = 'completed'
          order by k.ended_at desc limit 1) as success
      from (select distinct x.schedule from qwf.firings x where x.id = any (v_seen)) d
      left join qwf.schedules s on s.name = d.schedule
      offset 0) h
    join qwf.firings o on o.schedule = h.schedule and o.id = any (v_seen)
    where coalesce(o.ended_at, o.at) < v_old and (o.outcome <> 'fired' or o.result is not null)
      and (not h.there or o.id < h.kept_from and o.id is distinct from h.success)
    for update of o skip locked));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;

-- Says what a shorter retention would delete; without one, what is too old already. Counts at
-- most to `most`, and nothing if the new time is not shorter. A queue with a retention of its
-- own keeps it when the setting changes.
create function qwf.losses(
  setting text default null, value interval default null, queue text default null,
  most int default 100000)
returns table (before interval, kept interval, jobs bigint, runs bigint, minutes bigint,
  events bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_old interval;  -- of jobs and runs; null: they are not asked about
  v_old_minutes interval;
  v_old_events interval;
begin
  if losses.setting not in ('retention', 'minutes_keep', 'events_keep')
    or num_nonnulls(losses.setting, losses.queue) > 1
    or not _qwf.is_duration(losses.value, '1000 years', p_least => '0 s')
    or coalesce(losses.most < 0, true)
  then
    raise exception using errcode = 'QW005', message = 'invalid question',
      detail = format('setting %L, value %s, queue %L, most %s', left(losses.setting, 200),
        losses.value, left(losses.queue, 200), losses.most),
      hint = 'give the setting retention, minutes_keep or events_keep, or a queue; a value of 0 s'
        ' to 1000 years; and most of 0 or more';
  end if;
  select coalesce(q.retention, k.before), coalesce(losses.value, k.usual)
  into before, kept
  from qwf.settings s
  cross join lateral (
    select (o.value #>> '{}')::interval as before,
      case when losses.setting is null then s.retention
        else (o.default_value #>> '{}')::interval end as usual
    from qwf.setting_overview o
    where o.name = coalesce(losses.setting, 'retention')) k
  left join qwf.queues q on q.name = losses.queue
  where losses.queue is null or q.name is not null;
  if not found then
    perform _qwf.raise_unknown_queue(losses.queue);
  end if;
  if kept < before or num_nonnulls(losses.setting, losses.queue, losses.value) = 0 then
    v_old := case when coalesce(losses.setting, 'retention') = 'retention' then kept end;
    v_old_minutes := case when losses.setting = 'minutes_keep' then kept
      when losses.setting is null and losses.queue is null
        then (select s.minutes_keep from qwf.settings s) end;
    v_old_events := case when losses.setting = 'events_keep' then kept
      when losses.setting is null and losses.queue is null
        then (select s.events_keep from qwf.settings s) end;
  end if;
  select
    (select count(*) from (
      select from qwf.jobs j
      left join qwf.queues q on q.name = j.queue
      where v_old is not null and j.run_id is null
        and (losses.queue is null or j.queue = losses.queue)
        and j.finished_at
          < v_now - case when losses.queue is null then coalesce(q.retention, v_old) else v_old end
      limit losses.most) d),
    (select count(*) from (
      select from qwf.runs r
      where losses.queue is null and r.finished_at < v_now - v_old
      limit losses.most) d),
    (select count(*) from (
      select from qwf.host_minutes m where m.minute < v_now - v_old_minutes
      union all
      select from qwf.queue_minutes m where m.minute < v_now - v_old_minutes
      limit losses.most) d),
    (select count(*) from (
      select from _qwf.event_log e where e.at < v_now - v_old_events
      limit losses.most) d)
  into jobs, runs, minutes, events;
  return next;
end $$;
comment on function qwf.losses is
  'How many finished jobs and runs, rows of host_minutes and queue_minutes, and events are '
  'deleted if retention, minutes_keep or events_keep becomes value (null: its default), or the '
  'retention of the queue (null: that of the settings); without arguments, how many are too old '
  'already. before: the time that holds now. Counts stop at most. QW005: invalid values; QW006: '
  'unknown queue.';
call _qwf.allow('qwf.losses', 'qwf_viewer');
