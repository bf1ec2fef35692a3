-- Deploy qwf:functions/schedules/_is_timezone
-- Purpose: Whether a name is that of a time zone of this server.
-- Guarantees: Never raises. False for abbreviations (CEST) and for rules written out (FOO+3), which
--   Postgres takes as well, but which know no summer time or are a typing error.
-- Called by: _timing_problems.

begin;

create function _qwf.is_timezone(p_name text) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Neither of the two can look like this, and reading all names takes 50 ms.
  if p_name ~ '^\D+/\D+$' then
    return timestamp '2000-01-01' at time zone p_name is not null;
  end if;
  return p_name = 'UTC' or exists (select from pg_timezone_names n where n.name = p_name);
exception
  when invalid_parameter_value then
    return false;
end $$;

commit;
