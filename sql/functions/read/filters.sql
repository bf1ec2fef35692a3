-- Filters of a search, read and checked.

-- Reads the filter of a search into a row of the type of p_type. A key that is null counts as
-- left out; a status becomes statuses.
-- Raises: QW005 for an invalid filter.
create function _qwf.read_filter(
  p_type anyelement, p_filter jsonb, p_known text[], p_statuses text[])
returns anyelement
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_since timestamptz;
  v_until timestamptz;
begin
  perform _qwf.check_filter(p_filter, p_known, p_statuses);
  v_since := p_filter ->> 'since';
  v_until := p_filter ->> 'until';
  if not coalesce(_qwf.is_readable_time(v_since), true)
    or not coalesce(_qwf.is_readable_time(v_until), true) then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = format('since %s, until %s', v_since, v_until),
      hint = 'give times of the years 1 to 9999';
  end if;
  return jsonb_populate_record(p_type, p_filter - 'status' || jsonb_build_object('statuses',
    case when jsonb_typeof(p_filter -> 'status') <> 'null'
      then jsonb_path_query_array(p_filter, '$.status[*]') end));
exception
  when data_exception then  -- text that is not a valid time, a number that is no id
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = left(sqlerrm, 500), hint = 'write times as 2026-01-31T12:00Z, ids as whole numbers';
end $$;

-- Refuses a filter that cannot mean what its writer thinks.
-- Raises: QW005 for anything but an object, for more than 64 KiB, for an unknown key or status
--   (naming the nearest known one), and for a value of the wrong kind.
create function _qwf.check_filter(p_filter jsonb, p_known text[], p_statuses text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
  v_key text;
begin
  if jsonb_typeof(p_filter) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = coalesce(_qwf.excerpt(p_filter), 'null'),
      hint = 'pass a JSON object such as {"status": "failed"}';
  end if;
  perform _qwf.check_json('filter', p_filter);
  perform _qwf.check_keys('filter.', p_filter, p_known);
  for v_status in
    select jsonb_array_elements_text(case jsonb_typeof(p_filter -> 'status')
      when 'array' then p_filter -> 'status' when 'null' then '[]'
      else jsonb_build_array(p_filter -> 'status') end)
    where p_filter ? 'status'
  loop
    if coalesce(v_status <> all (p_statuses), true) then
      raise exception using errcode = 'QW005', message = 'unknown status',
        detail = 'filter.status: ' || coalesce(left(v_status, 200), 'null'),
        hint = coalesce(_qwf.did_you_mean(v_status, p_statuses),
          'the states are ' || array_to_string(p_statuses, ', '));
    end if;
  end loop;
  select min(f.key) into v_key
  from jsonb_each(p_filter - 'status' - 'args') f
  where jsonb_typeof(f.value) not in (
    'null', case when f.key = 'labels' then 'object'
      when f.key in ('run_id', 'parent') then 'number'
      when f.key = 'children' then 'boolean' else 'string' end);
  if v_key is not null then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = format('filter.%s: %s', v_key, _qwf.excerpt(p_filter -> v_key)),
      hint = 'labels is an object, run_id and parent are numbers, children is true or false, '
        'status a text or a list, args any value, everything else a text';
  end if;
end $$;

-- Reads the filter of find_jobs.
-- Raises: as _read_filter.
create function _qwf.read_job_filter(p_filter jsonb) returns _qwf.job_filter
language sql stable
as $$
  select _qwf.read_filter(null::_qwf.job_filter, p_filter,
    '{status,queue,task,run_id,node,worker,host,project,labels,key,error,signature,args,text,
      since,until}',
    enum_range(null::qwf.job_status)::text[])
$$;

-- Refuses a search without a bound, or with one that would keep a server busy.
-- Raises: QW005.
create function _qwf.check_search(p_look_back int, p_max_rows int) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_look_back not between 1 and 1000000 or p_max_rows not between 1 and 10000, true)
  then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('look_back %s, max_rows %s', p_look_back, p_max_rows),
      hint = 'give look_back from 1 to 1000000, max_rows from 1 to 10000';
  end if;
end $$;
