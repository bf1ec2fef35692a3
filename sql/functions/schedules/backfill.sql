-- Past times of a schedule fired later. Locks: schedules, then the schedule, which ticks skip
-- meanwhile.

-- Fires a schedule for its times in the past: makes a schedule NAME.backfill.N with an end.
-- Takes the definition of this moment: a later change of the schedule changes no backfill. A
-- number is not given twice while firings of it are kept. A notice tells how many times have
-- completed or are being worked on, which are left out.
-- Locks: creating schedules, until the end of the transaction; the schedule. Ticks skip it
--   meanwhile.
-- Raises: QW001 no such schedule, QW005 for invalid values.
create function qwf.backfill(
  name text, since timestamptz, until timestamptz, at_once int default 1,
  again boolean default false)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_new qwf.schedules;
  v_left_out text;
begin
  perform _qwf.take_lock('schedules');  -- before the schedule, as create_schedule does
  select s.* into v_new from qwf.schedules s where s.name = backfill.name for no key update;
  if not found then
    perform _qwf.raise_unknown_schedule(backfill.name);
  end if;
  perform _qwf.check_backfill(v_new, backfill.since, backfill.until, backfill.at_once, v_now);
  v_new := _qwf.as_backfill(v_new, backfill.since, backfill.until);
  v_new.at_once := backfill.at_once;
  v_new.again := coalesce(backfill.again, false);
  v_new.name := format('%s.backfill.%s', v_new.backfill_of, 1 + coalesce((
    select max(substring(n.name from '[0-9]+$')::numeric)
    from (
      select s.name from qwf.schedules s where s.backfill_of = v_new.backfill_of
      union
      select f.schedule from qwf.firings f
      where coalesce(f.backfill_of, f.schedule) = v_new.backfill_of and f.backfill_of is not null
        and f.outcome = 'fired') n), 0));
  select string_agg(format('%s %s', t.times, t.verdict), ', ' order by t.verdict) into v_left_out
  from (
    select d.verdict, count(*) as times
    from qwf.due_times(v_new.backfill_of, null, backfill.since, backfill.until, v_new.again) d
    where d.verdict <> 'fires'
    group by d.verdict) t;
  if v_left_out is not null then
    raise notice using
      message = format('of %s times are left out: %s', v_new.planned, v_left_out),
      hint = 'again => true fires also for times that have completed';
  end if;
  perform _qwf.store_schedule(v_new, v_now);
  return v_new.name;
end $$;
comment on function qwf.backfill is
  'Fires a schedule for its times from since on, before until, oldest first, with at most at_once '
  'jobs or runs unfinished; leaves out times that have completed, unless again is true. Returns '
  'the name of the schedule that does it, NAME.backfill.N, which is switched off, on and dropped '
  'as others are, and is off at its end. QW001 no such schedule, QW005 no or more than 10,000 '
  'times, or an until that lies ahead.';
call _qwf.allow('qwf.backfill', 'qwf_admin');

-- Refuses a backfill that could do nothing, or for which the schedule itself fires.
-- Raises: QW005 with all problems.
create function _qwf.check_backfill(
  p_schedule qwf.schedules, p_since timestamptz, p_until timestamptz, p_at_once int,
  p_now timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.raise_problems('QW005', 'invalid backfill', array(
    select row(r.path, r.problem, r.hint)::_qwf.problem
    from (values
      ('name', p_schedule.backfill_of is not null, 'is a backfill itself',
        'name the schedule: ' || p_schedule.backfill_of),
      ('at_once', (p_at_once between 1 and 10000) is not true, 'must be within 1 to 10,000', null),
      ('since', (isfinite(p_since) and _qwf.is_readable_time(p_since)) is not true,
        'must be a time within the years 1 to 9999', null),
      ('until', (isfinite(p_until) and _qwf.is_readable_time(p_until)) is not true,
        'must be a time within the years 1 to 9999', null),
      ('since', p_since >= p_until, 'must be before until',
        'until is the end: its time itself is not fired'),
      ('until', p_until > p_now, 'lies ahead',
        'the schedule itself fires for the times to come; the latest until is now')
    ) r (path, violated, problem, hint)
    where r.violated));
end $$;

-- Returns a schedule as the backfill of its times from p_since on, before p_until. Its first
-- time is its next one. The grid of an interval begins at p_since or sooner, and has the same
-- times.
-- Raises: QW005 for no time, and for more than 10,000.
create function _qwf.as_backfill(
  p_schedule qwf.schedules, p_since timestamptz, p_until timestamptz)
returns qwf.schedules
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule qwf.schedules := p_schedule;
begin
  v_schedule.backfill_of := coalesce(p_schedule.backfill_of, p_schedule.name);
  if p_schedule.anchor > p_since then
    v_schedule.anchor := _qwf.latest_fire(p_schedule, p_since);
  end if;
  v_schedule.next_at := _qwf.next_fire(v_schedule, p_since - interval '1 us');
  v_schedule.planned := (
    select count(*) from _qwf.times_from(v_schedule, v_schedule.next_at, p_until, 10001));
  if v_schedule.planned not between 1 and 10000 then
    raise exception using errcode = 'QW005',
      message = case v_schedule.planned when 0 then 'no time of the schedule lies between'
        else 'more than 10,000 times' end,
      detail = format('schedule %s from %s on, before %s', v_schedule.name, p_since, p_until),
      hint = case v_schedule.planned when 0
        then format('the time before is %s, the next one %s',
          _qwf.latest_fire(p_schedule, p_since), v_schedule.next_at)
        else 'backfill one part after the other' end;
  end if;
  v_schedule.ends_at := p_until;
  v_schedule.enabled := true;
  v_schedule.catch_up := 'all';
  v_schedule.overlap := 'allow';
  return v_schedule;
end $$;

-- Says when a schedule is due next; or, with since and until, which times a backfill would have,
-- and what it would do about each. No rows while it is disabled, and fewer than asked for if it
-- is due less often. A plan changes nothing; between a plan and the backfill, times can
-- complete.
-- Raises: QW001 no such schedule, QW005 more than 100 times ahead, or no or more than 10,000
--   times in a period.
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

-- Records the missed times of a schedule that do not fire: those from its next time on, before
-- p_before. Tells of them in a warning, if one is more than a minute old. Returns how many times
-- these are, at most 1,000.
-- Locks: expects the schedule locked by the caller.
create function _qwf.record_missed(
  p_schedule qwf.schedules, p_before timestamptz, p_now timestamptz)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_firing qwf.firings;
begin
  v_firing.times := (
    select count(*) from _qwf.times_from(p_schedule, p_schedule.next_at, p_before, 1000));
  v_firing.schedule := p_schedule.name;
  v_firing.since := p_schedule.next_at;
  v_firing.due_at := _qwf.latest_fire(p_schedule, p_before - interval '1 us');
  v_firing.at := p_now;
  v_firing.outcome := 'skipped';
  v_firing.reason := 'missed';
  perform _qwf.record_firing(v_firing);
  if p_schedule.next_at < p_now - interval '1 min' then
    raise warning using
      message = format('schedule %s: times were missed since %s, they %s', p_schedule.name,
        p_schedule.next_at, case p_schedule.catch_up when 'one' then 'fire once, for the latest'
          else 'are left out' end),
      hint = 'nobody called tick(), or the server was down; catch_up => ''all'' fires for each '
        'missed time; qwf.backfill fires for them now';
  end if;
  return v_firing.times;
end $$;
