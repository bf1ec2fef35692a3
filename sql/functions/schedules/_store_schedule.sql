-- Deploy qwf:functions/schedules/_store_schedule
-- Purpose: Writes the definition of a schedule.
-- Guarantees: Keeps what the schedule has recorded so far.
-- Locks: the schedule.
-- Called by: backfill, create_schedule.

begin;

create function _qwf.store_schedule(p_schedule qwf.schedules, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.schedules (
    name, task, workflow, cron, minute, hours, every, anchor, timezone, args, queue, priority,
    project, options, catch_up, overlap, enabled, next_at, backfill_of, ends_at, at_once, again,
    planned, expect, on_since, created_at)
  values (
    p_schedule.name, p_schedule.task, p_schedule.workflow, p_schedule.cron, p_schedule.minute,
    p_schedule.hours, p_schedule.every, p_schedule.anchor, p_schedule.timezone, p_schedule.args,
    p_schedule.queue, p_schedule.priority, p_schedule.project, p_schedule.options,
    p_schedule.catch_up, p_schedule.overlap, p_schedule.enabled, p_schedule.next_at,
    p_schedule.backfill_of, p_schedule.ends_at, p_schedule.at_once, p_schedule.again,
    p_schedule.planned, p_schedule.expect, p_schedule.on_since, p_now)
  on conflict (name) do update set
    task = excluded.task, workflow = excluded.workflow, cron = excluded.cron,
    minute = excluded.minute, hours = excluded.hours, every = excluded.every,
    anchor = excluded.anchor, timezone = excluded.timezone, args = excluded.args,
    queue = excluded.queue, priority = excluded.priority, project = excluded.project,
    options = excluded.options, catch_up = excluded.catch_up, overlap = excluded.overlap,
    enabled = excluded.enabled, next_at = excluded.next_at,
    expect = excluded.expect, on_since = excluded.on_since;
end $$;

commit;
