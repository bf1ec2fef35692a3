-- Deploy qwf:functions/search/_check_search
-- Purpose: Refuses a search without a bound, or with one that would keep a server busy.
-- Raises: QW005.
-- Called by: find_jobs, find_runs.

begin;

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

commit;
