-- The next time that matches a cron expression.

create type _qwf.cron_field as (numbers int[], problem text);
comment on type _qwf.cron_field is
  'A field of a cron expression: the numbers it names, or what is wrong with it.';

create type _qwf.cron as (
  minutes int[], hours int[], days int[], months int[], weekdays int[], either_day boolean,
  repeats boolean, problems _qwf.problem[]);
comment on type _qwf.cron is
  'A parsed cron expression. either_day: a day must match only one of the two day fields. '
  'repeats: a local time that occurs twice counts twice.';

-- Returns the next instant at which a cron expression is due in a time zone. A local time that
-- occurs twice counts once, the first time; it counts twice if the hour field begins with * or
-- names all hours. A skipped local time counts at the instant after the gap, but not if all
-- hours are named: then only the next match counts.
-- Raises: 22023 for an unknown time zone.
create function _qwf.cron_next(p_cron _qwf.cron, p_zone text, p_after timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after timestamp := p_after at time zone p_zone;
  v_local timestamp := v_after;
  v_instants timestamptz[];
  v_next timestamptz;
begin
  loop
    v_local := _qwf.cron_local(p_cron, v_local);
    exit when v_local is null;
    v_instants := _qwf.instants_of_local_time(v_local, p_zone);
    if cardinality(p_cron.hours) = 24 and v_instants[1] at time zone p_zone <> v_local then
      v_local := v_instants[1] at time zone p_zone - interval '1 minute';  -- continue after the gap
    else
      v_next := case
        when v_instants[1] > p_after then v_instants[1]
        when p_cron.repeats then v_instants[2] end;
      exit when v_next > p_after;
    end if;
  end loop;
  if not p_cron.repeats then
    return v_next;
  end if;
  v_instants := _qwf.instants_of_local_time(date_trunc('minute', v_after), p_zone);
  if v_instants[2] > p_after then
    -- The clocks are about to be set back: times that they have shown will occur again.
    v_local := v_after - (v_instants[2] - v_instants[1]);
    loop
      v_local := _qwf.cron_local(p_cron, v_local);
      exit when v_local is null or v_local > v_after;
      v_instants := _qwf.instants_of_local_time(v_local, p_zone);
      if v_instants[2] > p_after then
        return least(v_next, v_instants[2]);
      end if;
    end loop;
  end if;
  return v_next;
end $$;

-- Returns the next local time that a cron expression matches, on a clock that is never set
-- forward or back. After the given time, in whole minutes. Skips whole fields. Null: never.
create function _qwf.cron_local(p_cron _qwf.cron, p_after timestamp) returns timestamp
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today date := p_after::date;
  v_hours int[] := p_cron.hours;
  v_minutes int[] := p_cron.minutes;
  v_hour int := extract(hour from p_after);
  v_minute int := extract(minute from p_after);
  v_number int;
  v_day date := _qwf.cron_day(p_cron, v_today);
begin
  if v_day = v_today then
    if v_hour = any (v_hours) then
      foreach v_number in array v_minutes loop
        if v_number > v_minute then
          return v_day + make_time(v_hour, v_number, 0);
        end if;
      end loop;
    end if;
    foreach v_number in array v_hours loop
      if v_number > v_hour then
        return v_day + make_time(v_number, v_minutes[1], 0);
      end if;
    end loop;
    v_day := _qwf.cron_day(p_cron, v_today + 1);
  end if;
  return v_day + make_time(v_hours[1], v_minutes[1], 0);
end $$;

-- Returns the first day that a cron expression matches, from a given day on. Steps by month, not
-- by minute, and looks at most 41 years ahead: 29 February falls on a given weekday at least
-- every 40 years, and no other match is rarer. Null: never.
create function _qwf.cron_day(p_cron _qwf.cron, p_from date) returns date
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_months int[] := p_cron.months;
  v_days int[] := p_cron.days;
  v_weekdays int[] := p_cron.weekdays;
  v_either boolean := p_cron.either_day;
  v_year int := extract(year from p_from);
  v_last int := v_year + 41;
  v_month int := extract(month from p_from);
  v_day int := extract(day from p_from);
  v_first date;
  v_length int;
  v_weekday int;
  v_dom boolean;
  v_dow boolean;
begin
  while v_year <= v_last loop
    if v_month = any (v_months) then
      v_first := make_date(v_year, v_month, 1);
      v_length := (v_first + interval '1 month')::date - v_first;
      v_weekday := extract(dow from v_first);
      while v_day <= v_length loop
        v_dom := v_day = any (v_days);
        v_dow := (v_weekday + v_day - 1) % 7 = any (v_weekdays);
        if (v_dom and v_dow) or (v_either and (v_dom or v_dow)) then
          return v_first + (v_day - 1);
        end if;
        v_day := v_day + 1;
      end loop;
    end if;
    v_day := 1;
    v_year := v_year + v_month / 12;
    v_month := v_month % 12 + 1;
  end loop;
  return null;
end $$;

-- Returns the instants at which the clocks of a time zone show a given time. One instant. Two,
-- in order, if the clocks show the time twice because they are set back. If they never show it
-- because they are set forward: the instant of that change.
-- Raises: 22023 for an unknown time zone.
create function _qwf.instants_of_local_time(p_local timestamp, p_zone text) returns timestamptz[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Of two instants, Postgres takes the later. For a skipped time, it uses the old offset.
  v_at timestamptz := p_local at time zone p_zone;
  v_shown timestamp := v_at at time zone p_zone;
  v_set_back interval;
begin
  if v_shown <> p_local then
    return array[coalesce((
      select min(t)
      from generate_series(v_at - (v_shown - p_local), v_at, interval '1 minute') t
      where t at time zone p_zone >= p_local), v_at)];
  end if;
  v_set_back := (v_at - interval '24 hours') at time zone p_zone + interval '24 hours' - v_shown;
  if v_set_back > '0 s' and (v_at - v_set_back) at time zone p_zone = p_local then
    return array[v_at - v_set_back, v_at];
  end if;
  return array[v_at];
end $$;

-- Reads when a schedule by cron, or by minute and hours, is due. Reading takes ten times as long
-- as finding the next time, so who looks for several times reads once.
create function _qwf.cron_of(p_schedule qwf.schedules) returns _qwf.cron
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return _qwf.read_cron(coalesce(p_schedule.cron, format('%s %s * * *', p_schedule.minute,
    coalesce(array_to_string(p_schedule.hours, ','), '*'))));
end $$;

-- Reads a cron expression: minute, hour, day of month, month, day of week, or one of the @
-- names. Never raises: problems has at most one problem for each field. Combines the two day
-- fields as Vixie cron does: if one of them begins with *, a day must match both; else a day
-- must match either.
create function _qwf.read_cron(p_expression text) returns _qwf.cron
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := btrim(left(p_expression, 1000), E' \t');
  v_fields text[] := regexp_split_to_array(case lower(v_text)
    when '@hourly' then '0 * * * *'
    when '@daily' then '0 0 * * *'
    when '@midnight' then '0 0 * * *'
    when '@weekly' then '0 0 * * 0'
    when '@monthly' then '0 0 1 * *'
    when '@yearly' then '0 0 1 1 *'
    when '@annually' then '0 0 1 1 *'
    else v_text
  end, E'[ \t]+');
  v_names constant text[] := array['minute', 'hour', 'day of month', 'month', 'day of week'];
  v_read _qwf.cron_field[];
  v_cron _qwf.cron;
begin
  if cardinality(v_fields) <> 5 or length(v_text) > 500 then
    v_cron.problems := array[row('cron', format('%L does not have five fields', left(v_text, 100)),
      'write minute, hour, day of month, month and day of week, such as ''30 3 * * MON-FRI'', '
      'or @hourly, @daily, @weekly, @monthly, @yearly; for seconds use every')::_qwf.problem];
    return v_cron;
  end if;
  v_read := array[
    _qwf.read_cron_field(v_fields[1], 0, 59, null),
    _qwf.read_cron_field(v_fields[2], 0, 23, null),
    _qwf.read_cron_field(v_fields[3], 1, 31, null),
    _qwf.read_cron_field(v_fields[4], 1, 12, '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'),
    _qwf.read_cron_field(v_fields[5], 0, 6, '{sun,mon,tue,wed,thu,fri,sat}')];
  v_cron.minutes := v_read[1].numbers;
  v_cron.hours := v_read[2].numbers;
  v_cron.days := v_read[3].numbers;
  v_cron.months := v_read[4].numbers;
  v_cron.weekdays := v_read[5].numbers;
  v_cron.either_day := not (starts_with(v_fields[3], '*') or starts_with(v_fields[5], '*'));
  v_cron.repeats := starts_with(v_fields[2], '*') or cardinality(v_cron.hours) = 24;
  v_cron.problems := '{}';
  for v_field in 1..5 loop
    if v_read[v_field].problem is not null then
      v_cron.problems := v_cron.problems || row(
        'cron ' || v_names[v_field], v_read[v_field].problem,
        'write *, a number, a range (9-17), a step (*/15, 5/20, 8-18/2) or a list of these (0,30); '
        'months and days of the week have names (JAN, MON)')::_qwf.problem;
    end if;
  end loop;
  return v_cron;
end $$;

-- Returns the numbers that one field of a cron expression names. Never raises. Sorted, each
-- once. A range may wrap around the end of the field (22-2, FRI-MON); a step continues across
-- it.
create function _qwf.read_cron_field(p_field text, p_low int, p_high int, p_names text[])
returns _qwf.cron_field
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_numbers int[] := '{}';
  v_span int := p_high - p_low + 1;
  v_top int := case when p_high = 6 then 7 else p_high end;
  v_part text;
  v_parts text[];
  v_low int;
  v_high int;
  v_step int;
begin
  if p_field = '*' then
    return row(array(select generate_series(p_low, p_high)), null::text);
  end if;
  foreach v_part in array string_to_array(lower(p_field), ',') loop
    v_parts := regexp_match(
      v_part, '^([*]|[0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?(?:/([0-9]{1,3}))?$');
    if v_parts is null or (v_parts[1] = '*' and v_parts[2] is not null) then
      return row(null::int[], format('%L is not a number, range, step or list', v_part));
    end if;
    if v_parts[1] = '*' then
      v_low := p_low;
      v_high := p_high;
    else
      v_low := case when v_parts[1] ~ '[0-9]' then v_parts[1]::int
        else array_position(p_names, v_parts[1]) - 1 + p_low end;
      v_high := case when v_parts[2] ~ '[0-9]' then v_parts[2]::int
        when v_parts[2] is not null then array_position(p_names, v_parts[2]) - 1 + p_low
        when v_parts[3] is not null then greatest(v_low, p_high)
        else v_low end;
      if v_low is null or v_high is null then
        return row(null::int[], format('%L is not a name of this field', v_part));
      end if;
    end if;
    v_step := coalesce(v_parts[3]::int, 1);
    if v_low not between p_low and v_top or v_high not between p_low and v_top then
      return row(null::int[], format('%L is not within %s to %s', v_part, p_low, v_top));
    elsif v_step not between 1 and v_span then
      return row(null::int[], format('%L has a step that is not within 1 to %s', v_part, v_span));
    end if;
    if v_low > p_high then  -- 7 is Sunday too: it ends a range as 7, else it counts as 0
      v_low := p_low;
      v_high := case
        when v_parts[2] is null and v_parts[3] is not null then p_high
        else v_high % v_span end;
    end if;
    v_high := v_high + case when v_high < v_low then v_span else 0 end;
    for v_number in v_low .. v_high by v_step loop
      v_numbers := v_numbers || (v_number - p_low) % v_span + p_low;
    end loop;
  end loop;
  if cardinality(v_numbers) > 1 then
    v_numbers := array(select n from generate_series(p_low, p_high) n where n = any (v_numbers));
  end if;
  return row(v_numbers, null::text);
end $$;
