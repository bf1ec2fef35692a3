-- The next and the latest time of a schedule.

-- Returns when a schedule is next due after a given instant. Depends only on its arguments, so
-- that a restart changes nothing. Null if it is never due again, or if this server does not know
-- the time zone.
create function _qwf.next_fire(p_schedule qwf.schedules, p_after timestamptz) returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_every numeric := extract(epoch from p_schedule.every);
  v_since numeric := extract(epoch from p_after) - extract(epoch from p_schedule.anchor);
begin
  if v_since < 0 then
    return p_schedule.anchor;
  elsif v_every is not null then
    return p_after + make_interval(secs => (v_every - v_since % v_every)::double precision);
  end if;
  return _qwf.cron_next(_qwf.cron_of(p_schedule), p_schedule.timezone, p_after);
exception
  when invalid_parameter_value then
    return null;
end $$;

-- Returns the last time of a schedule up to a given instant. Depends only on its arguments.
-- Looks back in windows that double, for 41 years, then halves the window: some 40 steps,
-- however often the schedule is due. The grid of an interval goes back before its anchor. Null
-- if there is no such time, or if this server does not know the time zone.
create function _qwf.latest_fire(p_schedule qwf.schedules, p_until timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_every numeric := extract(epoch from p_schedule.every);
  v_since numeric := extract(epoch from p_until) - extract(epoch from p_schedule.anchor);
  v_cron _qwf.cron;
  v_window interval := interval '2 min';
  v_to timestamptz := p_until;  -- no time of the schedule lies between it and p_until
  v_middle timestamptz;
  v_found timestamptz;
  v_time timestamptz;
begin
  if v_every is not null then
    return p_until - make_interval(
      secs => (v_since - v_every * floor(v_since / v_every))::double precision);
  end if;
  v_cron := _qwf.cron_of(p_schedule);
  loop
    v_found := _qwf.cron_next(v_cron, p_schedule.timezone, p_until - v_window);
    exit when v_found <= p_until;
    if v_found is null or v_window > interval '15000 days' then
      return null;
    end if;
    v_window := v_window * 2;
  end loop;
  while v_to - v_found > interval '1 min' loop
    v_middle := v_found + (v_to - v_found) / 2;
    v_time := _qwf.cron_next(v_cron, p_schedule.timezone, v_middle);
    if v_time <= p_until then
      v_found := v_time;
    else
      v_to := v_middle;
    end if;
  end loop;
  v_time := _qwf.cron_next(v_cron, p_schedule.timezone, v_found);
  return case when v_time <= p_until then v_time else v_found end;
exception
  when invalid_parameter_value then
    return null;
end $$;

-- Returns the times of a schedule from one of its times on, before an instant. At most p_max, so
-- that its cost is bounded. No more if this server does not know the time zone. With p_before
-- null there is no end but p_max.
create function _qwf.times_from(
  p_schedule qwf.schedules, p_from timestamptz, p_before timestamptz, p_max int)
returns setof timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cron _qwf.cron;
  v_time timestamptz := p_from;
  v_every interval := make_interval(  -- a day has 24 hours, also when clocks change
    secs => extract(epoch from p_schedule.every)::double precision);
begin
  if v_every is null then
    v_cron := _qwf.cron_of(p_schedule);
  end if;
  for v_place in 1 .. p_max loop
    exit when v_time is null or v_time >= p_before;
    return next v_time;
    v_time := case when v_every is not null then v_time + v_every
      else _qwf.cron_next(v_cron, p_schedule.timezone, v_time) end;
  end loop;
exception
  when invalid_parameter_value then
    return;
end $$;

-- Returns the args or options of a schedule with the time for which it fires in place of its
-- references. A value without references costs nothing. due has the times before and after it,
-- which are times of the schedule: a day in which clocks change has 23 or 25 hours between them.
-- Raises: QW005 if a reference cannot be resolved; create_schedule refuses those that never can.
create function _qwf.with_due(p_value jsonb, p_schedule qwf.schedules, p_due timestamptz)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result _qwf.resolution;
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  end if;
  v_result := _qwf.resolve(p_value, jsonb_build_object('due',
    _qwf.due_date(p_due, p_schedule.timezone) || jsonb_build_object(
      'previous', _qwf.due_date(
        _qwf.latest_fire(p_schedule, p_due - interval '1 us'), p_schedule.timezone),
      'next', _qwf.due_date(_qwf.next_fire(p_schedule, p_due), p_schedule.timezone))));
  if v_result.error is not null then
    raise exception using errcode = 'QW005',
      message = 'the args of the schedule cannot be resolved', detail = v_result.error,
      hint = '"due" has at, date, hour, previous, next';
  end if;
  return v_result.value;
end $$;

-- Returns what references read of one time of a schedule: at in UTC, date and hour in the time
-- zone of the schedule. Each key is there, and null if there is no such time.
create function _qwf.due_date(p_at timestamptz, p_zone text) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'at', _qwf.utc(p_at), 'date', (p_at at time zone p_zone)::date,
    'hour', extract(hour from p_at at time zone p_zone)::int)
$$;

-- Spells a time in UTC, as labels and references have it: 2026-01-31T12:00:00Z.
create function _qwf.utc(p_at timestamptz) returns text
language sql immutable
as $$
  select (to_jsonb(p_at at time zone 'UTC') #>> '{}') || 'Z'
$$;

-- Returns what is wrong with the references in the args or options of a schedule. Names each
-- reference that is no part of due, also one that has a default.
create function _qwf.due_problems(p_value jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select e.path, coalesce(_qwf.malformed(e.expression),
      format('there is no %s', array_to_string(
        _qwf.segments(e.expression -> '$from'), '.')), 'is not a reference to due'),
    '"due" has at, date, hour, previous, next: {"$from": "due.date"}; {"$value": ...} passes '
    'an object with a key that begins with $ as it is'
  from _qwf.expressions(p_value, p_path) e
  where _qwf.malformed(e.expression) is not null or e.expression ? '$check'
    or e.expression ? '$from' and (
      array_to_string(_qwf.segments(e.expression -> '$from'), '.')
        ~ '^due([.](previous|next))?([.](at|date|hour))?$') is not true;
end $$;

-- Returns what is wrong with the times of a schedule. Reports all problems at once. A schedule
-- without problems is due some day.
create function _qwf.timing_problems(p_schedule qwf.schedules) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone text := p_schedule.timezone;
  v_cron _qwf.cron := _qwf.read_cron(p_schedule.cron);
begin
  return query
    select rule.path, rule.problem, rule.hint
    from (values
      ('cron', num_nonnulls(p_schedule.cron, p_schedule.minute, p_schedule.every) <> 1,
        'give exactly one of cron, minute and every',
        'cron => ''30 3 * * *'', or minute => 30, hours => ''{3}'', or every => ''37 minutes'''),
      ('minute', p_schedule.minute not between 0 and 59, 'must be within 0 to 59', null),
      ('hours', p_schedule.hours is not null and p_schedule.minute is null,
        'have no effect without minute', null),
      ('hours', cardinality(p_schedule.hours) = 0, 'must not be empty: that would never fire',
        'leave hours out for every hour'),
      ('hours',
        exists (select from unnest(p_schedule.hours) h where (h between 0 and 23) is not true),
        'must be within 0 to 23', null),
      ('every', not _qwf.is_duration(p_schedule.every, '366 days', p_least => '1 s'),
        'must be within 1 second to 366 days', null),
      ('every',
        extract(year from p_schedule.every) <> 0 or extract(month from p_schedule.every) <> 0,
        'months differ in length', 'use cron => ''0 0 1 * *'' for the first of each month'),
      ('anchor', p_schedule.anchor is not null and p_schedule.every is null,
        'has no effect without every', null),
      ('anchor', not (isfinite(p_schedule.anchor) and _qwf.is_readable_time(p_schedule.anchor)),
        'must be a time within the years 1 to 9999', null)
    ) rule (path, violated, problem, hint)
    where rule.violated;
  return query select p.* from unnest(v_cron.problems) p;
  if cardinality(v_cron.problems) = 0 and _qwf.cron_day(v_cron, date '2000-01-01') is null then
    return query select
      'cron', 'never matches a day', 'check the day of month and the month';
  end if;
  if _qwf.is_timezone(v_zone) is not true then
    return query select
      'timezone', format('%L is not a time zone of this server', left(v_zone, 200)), coalesce(
        _qwf.did_you_mean(v_zone, array(select n.name from pg_timezone_names n)),
        'use a name such as Europe/Berlin: select name from pg_timezone_names');
  end if;
end $$;

-- True when a name is a time zone of this server. Never raises. False for abbreviations (CEST)
-- and written-out rules (FOO+3), which Postgres also accepts: they know no summer time or are a
-- typing error; and for zones that count leap seconds (right/...), whose clocks never show a
-- whole minute.
create function _qwf.is_timezone(p_name text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Neither of the two looks like this; reading all names would take 50 ms.
  if starts_with(p_name, 'right/') then
    return false;
  elsif p_name ~ '^[^0-9]+/[^0-9]+$' then
    return timestamp '2000-01-01' at time zone p_name is not null;
  end if;
  return p_name = 'UTC' or exists (select from pg_timezone_names n where n.name = p_name);
exception
  when invalid_parameter_value then
    return false;
end $$;
