-- Deploy qwf:functions/search/_read_filter
-- Purpose: Reads the filter of a search into a row of the type of p_type. A key that is null counts
--   as left out; a status becomes statuses.
-- Raises: QW005 for an invalid filter.
-- Called by: _read_job_filter, find_runs.

begin;

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

commit;
