-- Deploy qwf:functions/schedules/enable_schedule
-- Purpose: Switches a schedule on or off.
-- Guarantees: Times that pass while it is off are not made up for: switched on, it waits for the
--   next one. A backfill goes on where it was. Switching on a schedule that is on changes nothing.
-- Locks: the schedule.
-- Raises: QW001 for an unknown schedule, QW002 for a backfill that has ended, QW005 for a null.

begin;

create function qwf.enable_schedule(name text, enabled boolean default true) returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule qwf.schedules;
begin
  if enable_schedule.enabled is null then
    raise exception using errcode = 'QW005', message = 'enabled must be true or false',
      detail = 'enabled is null',
      hint = 'pass true to switch the schedule on, false to switch it off';
  end if;
  select s.* into v_schedule
  from qwf.schedules s where s.name = enable_schedule.name for no key update;
  if not found then
    perform _qwf.raise_unknown_schedule(enable_schedule.name);
  end if;
  if v_schedule.enabled <> enable_schedule.enabled then
    if v_schedule.backfill_of is not null and num_nonnulls(
        v_schedule.next_at, v_schedule.resume_at) = 0 then
      raise exception using errcode = 'QW002', message = 'the backfill has ended',
        detail = format('schedule %s', v_schedule.name),
        hint = 'begin another: select qwf.backfill(...)';
    end if;
    update qwf.schedules s set
      enabled = enable_schedule.enabled,
      on_since = qwf.now(),
      next_at = case when enable_schedule.enabled
        then coalesce(s.resume_at, _qwf.next_fire(v_schedule, qwf.now())) end,
      resume_at = case when s.backfill_of is not null then s.next_at end
    where s.name = v_schedule.name
    returning s.next_at into v_schedule.next_at;
  end if;
  return v_schedule.next_at;
end $$;
comment on function qwf.enable_schedule is
  'Switches a schedule on, or off with false, and returns when it is next due. A backfill goes on '
  'where it was. QW001 no such schedule, QW002 the backfill has ended.';
call _qwf.allow('qwf.enable_schedule', 'qwf_admin');

commit;
