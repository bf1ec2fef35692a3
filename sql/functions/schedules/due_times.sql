-- Deploy qwf:functions/schedules/due_times
-- Purpose: Says when a schedule is due next; or, with since and until, which times a backfill would
--   have, and what it would do about each.
-- Guarantees: No rows while it is disabled, and fewer than asked for if it is due less often. A
--   plan changes nothing; between a plan and the backfill, times can complete.
-- Raises: QW001 no such schedule, QW005 more than 100 times ahead, or no or more than 10,000 times
--   in a period.

begin;

create function qwf.due_times(
  name text, times int default 5, since timestamptz default null, until timestamptz default null,
  again boolean default false)
returns table (due_at timestamptz, verdict text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule qwf.schedules;
  v_plan boolean := num_nonnulls(due_times.since, due_times.until) > 0;
  v_left int := case when v_plan then 10000 else due_times.times end;
begin
  if (v_left between 1 and 10000 and (v_plan or v_left <= 100)) is not true then
    raise exception using errcode = 'QW005', message = 'value out of range',
      detail = format('times: %s', due_times.times), hint = 'ask for 1 to 100 times';
  end if;
  select s.* into v_schedule from qwf.schedules s where s.name = due_times.name;
  if not found then
    perform _qwf.raise_unknown_schedule(due_times.name);
  end if;
  if v_plan then
    perform _qwf.check_backfill(v_schedule, due_times.since, due_times.until, 1, qwf.now());
    v_schedule := _qwf.as_backfill(v_schedule, due_times.since, due_times.until);
  end if;
  return query
    select t.at, coalesce(
      nullif(_qwf.time_taken(coalesce(v_schedule.backfill_of, v_schedule.name), t.at),
        case when v_plan and due_times.again then 'completed' end), 'fires')
    from _qwf.times_from(v_schedule, v_schedule.next_at, v_schedule.ends_at, v_left) t (at);
end $$;
comment on function qwf.due_times is
  'When an enabled schedule is due next, several times ahead. With since and until: the times that '
  'a backfill of it would have, from since on, before until. verdict: fires; or completed or open, '
  'if somebody has fired for that time already, so that it is left out. QW001 no such schedule.';
call _qwf.allow('qwf.due_times', 'qwf_viewer');

commit;
