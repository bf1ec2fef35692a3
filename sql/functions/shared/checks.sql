-- Checks of arguments that many functions share.

-- Refuses a JSON value that is too large or nested too deeply.
-- Raises: QW005.
create function _qwf.check_json(p_name text, p_value jsonb, p_max_bytes bigint default 65536)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := _qwf.json_problem(p_value, p_max_bytes);
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'value too large',
      detail = p_name || ' ' || v_problem,
      hint = 'put large data in a file or table and pass its path or id';
  end if;
end $$;

-- Returns why a JSON value is not stored, as it is too large or nested too deeply; or null.
-- Never raises. A value nested 500 levels deep has at least 1000 bytes, so most values are only
-- measured. The text is what counts: one byte can be six bytes as text. It is not built for a
-- value that is far too large: it could be longer than a text can be. A number such as 1e131071
-- is ten thousand times longer as text; a text that Postgres cannot hold is too large. A value
-- from a table is decompressed first (by #>, which copies nothing else), as it can be a
-- hundredth of its size. A deeper value could be stored, but a function that walks it could run
-- out of stack, and so could clients.
create function _qwf.json_problem(p_value jsonb, p_max_bytes bigint) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size int := pg_column_size(p_value #> '{}');
  v_bytes int;
begin
  if v_size <= 10000 then
    v_bytes := octet_length(p_value::text);
  elsif v_size <= 16 * p_max_bytes then  -- a number is up to eight times its text
    begin
      v_bytes := octet_length(p_value::text);
    exception
      when program_limit_exceeded then
        null;
    end;
  end if;
  if v_bytes is null and p_value is not null then
    return format('has more than %s bytes', p_max_bytes);
  elsif v_bytes > p_max_bytes then
    return format('has %s bytes, at most %s', v_bytes, p_max_bytes);
  elsif v_bytes > 1000 and jsonb_path_exists(p_value, 'lax $.**{500}') then
    return 'is nested too deeply, at most 499 levels';
  end if;
  return null;
end $$;

-- Refuses a text that is too long to be stored. 500 bytes, unless the caller says otherwise, fit
-- into an index entry.
-- Raises: QW005.
create function _qwf.check_text(p_name text, p_value text, p_max_bytes int default 500)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_value) > p_max_bytes then
    raise exception using errcode = 'QW005', message = 'text too long',
      detail = format('%s has %s bytes, at most %s', p_name, octet_length(p_value), p_max_bytes),
      hint = 'give a shorter text; for a long name, a digest of it';
  end if;
end $$;

-- Refuses a negative number of rows.
-- Raises: QW005.
create function _qwf.check_count(p_name text, p_count int) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_count < 0 then
    raise exception using errcode = 'QW005', message = 'negative number of rows',
      detail = format('%s %s', p_name, p_count), hint = 'give 0 or more';
  end if;
end $$;

-- Refuses an object with an unknown key, which would be ignored.
-- Raises: QW005, naming the key and the known key that it probably means.
create function _qwf.check_keys(p_where text, p_object jsonb, p_known text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  if p_object - p_known <> '{}' then
    select min(k) into v_key from jsonb_object_keys(p_object - p_known) k;
    raise exception using errcode = 'QW005', message = 'unknown key',
      detail = p_where || left(v_key, 200),
      hint = coalesce(_qwf.did_you_mean(v_key, p_known),
        'the known keys are ' || array_to_string(p_known, ', '));
  end if;
end $$;

-- Returns what is wrong with the labels that a job or a node requires, or null. Only texts pass,
-- because agents announce texts: a job that requires the number 5 would wait forever for a
-- worker with the label "5". Expects an object.
create function _qwf.requires_problem(p_requires jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('label "%s" must be a text, not of type %s%s', left(label.key, 200),
    jsonb_typeof(label.value),
    case
      when jsonb_typeof(label.value) in ('number', 'boolean')
        then format(': write "%s"', left(label.value::text, 200))
      when jsonb_typeof(label.value) = 'object' then ': references are not resolved here' end)
  from jsonb_each(p_requires) label
  where jsonb_typeof(label.value) <> 'string'
  order by label.key
  limit 1
$$;

-- Refuses a name that the engine keeps for itself: the queue of runs, its own worker.
-- Raises: QW007.
create function _qwf.refuse_engine_name(p_what text, p_name text) returns void
language plpgsql volatile  -- so that the planner never runs it
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW007',
    message = 'names that begin with qwf. belong to the engine',
    detail = format('%s %L', p_what, left(p_name, 200)), hint = 'use another name';
end $$;
