-- Deploy qwf:functions/lines/_read_cursor
-- Purpose: Returns the place where a claim goes on in a line. A new session begins anywhere.
-- Guarantees: Anyone may change the setting, so it decides nothing but where a round begins. Never
--   raises. Without a pinned search_path, which would cost a claim more than the reading.
-- Called by: _pick_keyed.

begin;

create function _qwf.read_cursor(p_name text) returns bigint
language sql volatile
as $$
  select case when current_setting(p_name, true) ~ '^-?[0-9]{1,19}$'
    then greatest(-9223372036854775807, least(9223372036854775806,
      current_setting(p_name, true)::numeric))::bigint
    else hashtextextended(random()::text, 0) end
$$;

commit;
