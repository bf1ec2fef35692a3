-- Deploy qwf:functions/times/_is_timezone
-- Purpose: True when a name is a time zone of this server.
-- Guarantees: Never raises. False for abbreviations (CEST) and written-out rules (FOO+3), which
--   Postgres also accepts: they know no summer time or are a typing error; and for zones that count
--   leap seconds (right/...), whose clocks never show a whole minute.
-- Called by: _timing_problems.

begin;

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

commit;
