-- Deploy qwf:functions/lines/_cursor_name
-- Purpose: Returns the name of the setting in which a session keeps how far a worker has come in
--   the line of a queue.
-- Called by: _pick_keyed.

begin;

create function _qwf.cursor_name(p_queue text, p_worker text) returns text
language sql immutable
as $$
  select 'qwf.line_' || (hashtextextended(p_queue || ' ' || coalesce(p_worker, ''), 0)
    & 9223372036854775807)
$$;

commit;
