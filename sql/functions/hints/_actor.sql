-- Deploy qwf:functions/hints/_actor
-- Purpose: Returns who to record as the author of a change: the login, or `web for ada` if the
--   session says in the setting qwf.actor that login web acts for ada.
-- Guarantees: The login always comes first. The rest is hearsay: any session can say any name, so
--   nothing is ever decided by it. A name that is empty, has more than 255 bytes, or has a
--   character that is unseen or moves other characters counts as not given. Never raises.
-- Called by: functions and triggers that record an author.

begin;

create function _qwf.actor() returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unseen constant text := E'[\\u0001-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160'
    || E'\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164'
    || E'\\uFEFF\\uFFA0\\uFFF9-\\uFFFB\\U000E0000-\\U000E0FFF]';
  v_name text := btrim(coalesce(current_setting('qwf.actor', true), ''));
begin
  if v_name = '' or octet_length(v_name) > 255 or v_name ~ v_unseen then
    return session_user;
  end if;
  return session_user || ' for ' || v_name;
end $$;

commit;
