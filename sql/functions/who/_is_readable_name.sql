-- Deploy qwf:functions/who/_is_readable_name
-- Purpose: True for a name that people can read as it is: 1 to 255 bytes, and no character that is
--   unseen or moves other characters.
-- Called by: _act_for, _acting_for, _named_signal, signal, withdraw_worker,
--   tg_worker_controls__write.

begin;

create function _qwf.is_readable_name(p_name text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unseen constant text := E'[\\u0001-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160'
    || E'\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164'
    || E'\\uFEFF\\uFFA0\\uFFF9-\\uFFFB\\U000E0000-\\U000E0FFF]';
begin
  return btrim(p_name) <> '' and octet_length(p_name) <= 255 and p_name !~ v_unseen;
end $$;

commit;
