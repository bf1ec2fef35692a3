-- Deploy qwf:functions/who/_act_for
-- Purpose: Lets what a function writes from now on say for whom its caller acts, and returns what
--   the session said before: the function gives it back to the setting at its end.
-- Guarantees: A null changes nothing. An error undoes it, as it undoes the call.
-- Raises: QW005 for a name that nobody can read.
-- Called by: functions with an argument acting_for, and those that record an order.

begin;

create function _qwf.act_for(p_name text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before text := coalesce(current_setting('qwf.acting_for', true), '');
begin
  if p_name is not null then
    if not _qwf.is_readable_name(p_name) then
      raise exception using errcode = 'QW005', message = 'invalid name',
        detail = format('acting_for has %s bytes', octet_length(p_name)),
        hint = 'acting_for is 1 to 255 bytes that people can read, without control characters';
    end if;
    perform set_config('qwf.acting_for', p_name, true);
  end if;
  return v_before;
end $$;

commit;
