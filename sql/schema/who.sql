-- The person or service on whose behalf a session acts, as the default of columns. Programs that
-- act for others set it; views and events show it.

-- Returns for whom the session says it acts: its setting qwf.acting_for, or null. Hearsay: any
-- session can say any name, so nothing is ever decided by it, and the column login beside it has
-- the login. A name that is empty, has more than 255 bytes, or has a character that is unseen or
-- moves other characters counts as not given. Never raises.
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

-- Lets what a function writes from now on say for whom its caller acts, and returns what the
-- session said before: the function gives it back to the setting at its end. A null changes
-- nothing. An error undoes it, as it undoes the call.
-- Raises: QW005 for a name that nobody can read.
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

-- True for a name that people can read as it is: 1 to 255 bytes, and no character that is unseen
-- or moves other characters.
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

-- Spells who did something, for a text: `web, acting for ada`. The login comes first, in double
-- quotes unless it is a plain name, so that no login reads like a login and a name.
create function _qwf.spell_who(p_login text, p_acting_for text) returns text
language sql immutable
as $$
  select quote_ident(p_login) || coalesce(', acting for ' || p_acting_for, '')
$$;
