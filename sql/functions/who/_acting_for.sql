-- Deploy qwf:functions/who/_acting_for
-- Purpose: Returns for whom the session says it acts: its setting qwf.acting_for, or null.
-- Guarantees: Hearsay: any session can say any name, so nothing is ever decided by it, and the
--   column login beside it has the login. A name that is empty, has more than 255 bytes, or has a
--   character that is unseen or moves other characters counts as not given. Never raises.
-- Called by: defaults of columns, and functions and triggers that record who did something.

begin;

create function _qwf.acting_for() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := current_setting('qwf.acting_for', true);
begin
  if v_name = '' or v_name is null then
    return null;
  end if;
  v_name := btrim(v_name);
  return case when _qwf.is_readable_name(v_name) then v_name end;
end $$;

commit;
