-- Deploy qwf:functions/search/_shell_quoted
-- Purpose: Returns a text as a shell takes it as one word.
-- Called by: _option_advice.

begin;

create function _qwf.shell_quoted(p_text text) returns text
language sql immutable parallel safe
as $$
  select case when p_text ~ '^[A-Za-z0-9_@%+=:,./-]+$' then p_text
    else '''' || replace(p_text, '''', '''"''"''') || '''' end
$$;

commit;
