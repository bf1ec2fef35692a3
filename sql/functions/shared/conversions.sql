-- The clock, the version, and values read from JSON. All time comes from qwf.now().

-- Returns the time of the engine. The engine takes every time that it writes or compares from
-- here; tests replace it.
create function qwf.now() returns timestamptz
language sql volatile
as 'select pg_catalog.clock_timestamp()';
comment on function qwf.now is
  'Returns the clock time of the database, not the transaction time; the only clock of the engine.';
call _qwf.allow('qwf.now', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

-- Returns the version of the SQL API, which agents check before they start. Semantic versioning:
-- an agent works with every schema of its own major version; before 1.0 the minor version must
-- match too.
create function qwf.version() returns text
language sql immutable
as $$select '0.1.0'::text$$;
comment on function qwf.version is 'Returns the version of the SQL API, major.minor.patch.';
call _qwf.allow('qwf.version', 'qwf_producer', 'qwf_worker', 'qwf_viewer');

-- Reads a duration as definitions write it: interval text such as "10 min", or a number of
-- seconds. Null for everything except a positive duration of at most 366 days; never raises.
create function _qwf.as_interval(p_value jsonb) returns interval
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_interval interval;
begin
  v_interval := case jsonb_typeof(p_value)
    when 'string' then (p_value #>> '{}')::interval
    when 'number' then make_interval(secs => p_value::double precision)
  end;
  return case when _qwf.is_duration(v_interval, '366 days') then v_interval end;
exception
  when data_exception then
    return null;
end $$;

-- True when an interval is positive and at most p_most. Null for null. Compares the seconds too:
-- Postgres compares intervals as if a month had 30 days, so by itself it takes "71000000 months
-- -2129999990 days" for less than a year, which is 85102 years in seconds.
create function _qwf.is_duration(
  p_value interval, p_most interval, p_least interval default '1 microsecond')
returns boolean
language sql immutable parallel safe
return p_value between p_least and p_most
  and extract(epoch from p_value)
    between extract(epoch from p_least) and extract(epoch from p_most);

-- Returns a JSON value if it is a list, else an empty list. Lets the checks of definitions
-- continue on any value, so that one mistake does not hide the others.
create function _qwf.as_list(p_value jsonb) returns jsonb
language sql immutable parallel safe
return case jsonb_typeof(p_value) when 'array' then p_value else '[]' end;

-- Returns a number that a worker reported, or null for any other value. Never raises. Null above
-- p_limit; rounded to millionths, so that a real can hold it.
create function _qwf.as_number(p_value jsonb, p_limit numeric default 9e15) returns numeric
language sql immutable
as $$
  select case when jsonb_typeof(p_value) = 'number' then
    case when abs(p_value::numeric) <= p_limit then round(p_value::numeric, 6) end
  end
$$;
call _qwf.allow('_qwf.as_number', 'qwf_viewer');

-- Returns a JSON value if it is an object, else an empty object. Lets the checks of definitions
-- continue on any value, so that one mistake does not hide the others.
create function _qwf.as_object(p_value jsonb) returns jsonb
language sql immutable parallel safe
return case jsonb_typeof(p_value) when 'object' then p_value else '{}' end;

-- True when a time is one that clients can read: of the years 1 to 9999, or infinite. Null for
-- null. Leaves a day at both ends for the time zone of the client.
create function _qwf.is_readable_time(p_at timestamptz) returns boolean
language sql immutable parallel safe
return not isfinite(p_at)
  or (p_at >= timestamptz '0001-01-02 00:00+00' and p_at < timestamptz '9999-12-31 00:00+00');
