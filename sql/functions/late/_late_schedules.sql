-- Deploy qwf:functions/late/_late_schedules
-- Purpose: Lists the schedules of which a time has passed without success: due plus expect.takes,
--   whatever the cause; or without any success for longer than expect.every.
-- Guarantees: Of a schedule that is off, or was switched on later than that, nothing is expected.
-- Called by: _doctor_late, _judge_schedules.

begin;

create function _qwf.late_schedules(p_now timestamptz)
returns table (name text, due_at timestamptz, takes interval, last_success timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.name, d.due_at, t.takes, l.last_success
  from qwf.schedules s
  cross join lateral (
    select _qwf.as_interval(s.expect -> 'takes') as takes,
      _qwf.as_interval(s.expect -> 'every') as every) t
  cross join lateral (
    select _qwf.latest_fire(s, p_now - t.takes) as due_at where t.takes is not null
    union all select null where t.takes is null) d
  cross join lateral (
    select max(f.ended_at) as last_success from qwf.firings f
    where coalesce(f.backfill_of, f.schedule) = s.name and f.result = 'completed') l
  where s.enabled and s.backfill_of is null and s.expect is not null and (
    d.due_at >= s.on_since and not exists (
      select from qwf.firings f
      where coalesce(f.backfill_of, f.schedule) = s.name and f.result = 'completed'
        and f.ended_at >= d.due_at and coalesce(f.due_at, f.at) >= d.due_at)
    or greatest(s.on_since, l.last_success) < p_now - t.every)
$$;

commit;
