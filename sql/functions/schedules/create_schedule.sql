-- Deploy qwf:functions/schedules/create_schedule
-- Purpose: Creates or replaces a schedule that enqueues a task or a workflow repeatedly.
-- Guarantees: An application may call it at every start. If the timing is unchanged, next_at stays;
--   a grid keeps its anchor; and what an operator switched off stays off, unless enabled is given.
-- Locks: schedules, for a new one; the schedule, which ticks skip meanwhile.
-- Raises: QW005 with all problems; QW001, QW003 for a workflow that could not be enqueued.
-- Called by: administrators, migrations, and host applications at their start.

begin;

create function qwf.create_schedule(
  name text, task text default null, workflow text default null, cron text default null,
  minute int default null, hours int[] default null, every interval default null,
  anchor timestamptz default null, timezone text default 'UTC', args jsonb default '{}',
  queue text default 'default', catch_up text default 'one', overlap text default 'skip',
  enabled boolean default null, priority int default 100, project text default '',
  options jsonb default '{}', expect jsonb default null)
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_old qwf.schedules;
  v_new qwf.schedules;
begin
  select s.* into v_old from qwf.schedules s where s.name = create_schedule.name for no key update;
  if not found then  -- the first of two calls creates it, the second sees it
    perform _qwf.take_lock('schedules');
    select s.* into v_old
    from qwf.schedules s where s.name = create_schedule.name for no key update;
  end if;
  v_new := v_old;
  v_new.name := create_schedule.name;
  v_new.task := create_schedule.task;
  v_new.workflow := create_schedule.workflow;
  v_new.cron := create_schedule.cron;
  v_new.minute := create_schedule.minute;
  v_new.hours := case when create_schedule.hours is not null then array(
    select distinct h from unnest(create_schedule.hours) h order by h) end;
  v_new.every := create_schedule.every;
  v_new.anchor := coalesce(create_schedule.anchor,
    case when v_old.every = create_schedule.every then v_old.anchor
      when create_schedule.every is not null then date_trunc('second', v_now) end);
  v_new.timezone := create_schedule.timezone;
  v_new.args := create_schedule.args;
  v_new.queue := case
    when create_schedule.task is null then nullif(create_schedule.queue, 'default')
    when create_schedule.task = 'qwf.send' then 'qwf.alerts'
    else create_schedule.queue end;
  v_new.catch_up := create_schedule.catch_up;
  v_new.overlap := create_schedule.overlap;
  v_new.enabled := coalesce(create_schedule.enabled, v_old.enabled, true);
  v_new.priority := coalesce(create_schedule.priority, 100);
  v_new.project := coalesce(create_schedule.project, '');
  v_new.options := coalesce(create_schedule.options, '{}');
  v_new.expect := nullif(create_schedule.expect, '{}');
  perform _qwf.raise_problems('QW005', 'invalid schedule',
    array(select p from _qwf.schedule_problems(v_new) p));
  v_new.next_at := case
    when v_new.enabled and v_old.enabled
      and row(v_old.cron, v_old.minute, v_old.hours, v_old.every, v_old.anchor, v_old.timezone)
        is not distinct from
        row(v_new.cron, v_new.minute, v_new.hours, v_new.every, v_new.anchor, v_new.timezone)
      then v_old.next_at
    when v_new.enabled then _qwf.next_fire(v_new, v_now) end;
  v_new.on_since := case when v_new.next_at = v_old.next_at then v_old.on_since else v_now end;
  if v_new is distinct from v_old then
    perform _qwf.store_schedule(v_new, v_now);
  end if;
  return v_new.next_at;
end $$;
comment on function qwf.create_schedule is
  'Enqueues a task or workflow repeatedly: by cron, by minute and hours, or at a fixed interval; '
  'returns when it is next due. {"$from": "due.date"} in args or options is the day for which it '
  'fires. expect says when it is late: {"takes": "30 min"} without success after its time, '
  '{"every": "26 h"} without any. QW005 lists all problems. A second call with the same name '
  'replaces the schedule; enabled null keeps the old value, and a new schedule is on.';
call _qwf.allow('qwf.create_schedule', 'qwf_admin');

commit;
