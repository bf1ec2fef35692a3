-- Deploy qwf:functions/health/_one_line
-- Purpose: Returns a text with all its words on one line.
-- Called by: checks of doctor.

begin;

create function _qwf.one_line(p_text text) returns text
language sql immutable parallel safe
as $$
  select btrim(regexp_replace(p_text, E'\\s+', ' ', 'g'))
$$;

commit;
