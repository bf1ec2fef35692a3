-- Deploy qwf:functions/health/losses
-- Purpose: Says what a shorter retention would delete; without one, what is too old already.
-- Guarantees: Counts at most to `most`, and nothing if the new time is not shorter. A queue with a
--   retention of its own keeps it when the setting changes.

begin;

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

commit;
