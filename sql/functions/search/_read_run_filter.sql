-- Deploy qwf:functions/search/_read_run_filter
-- Purpose: Reads the filter of find_runs. A key that is null counts as left out.
-- Raises: QW005 for an invalid filter.
-- Called by: find_runs.

begin;

create function _qwf.read_run_filter(p_filter jsonb) returns _qwf.run_filter
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_filter _qwf.run_filter;
begin
  perform _qwf.check_filter(p_filter,
    '{status,workflow,project,labels,key,error,text,since,until,parent,children}',
    enum_range(null::qwf.run_status)::text[]);
  v_filter := jsonb_populate_record(null::_qwf.run_filter, p_filter - 'status');
  if jsonb_typeof(p_filter -> 'status') <> 'null' then
    v_filter.statuses := array(
      select jsonb_array_elements_text(jsonb_path_query_array(p_filter, '$.status[*]'))
    )::qwf.run_status[];
  end if;
  if not coalesce(_qwf.is_readable_time(v_filter.since), true)
    or not coalesce(_qwf.is_readable_time(v_filter.until), true) then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = format('since %s, until %s', v_filter.since, v_filter.until),
      hint = 'give times of the years 1 to 9999';
  end if;
  return v_filter;
exception
  when data_exception then  -- text that is not a valid time, a number that is no id
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = left(sqlerrm, 500), hint = 'write times as 2026-01-31T12:00Z, ids as whole numbers';
end $$;

commit;
