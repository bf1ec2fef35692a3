-- Deploy qwf:functions/lines/_turn_setting
-- Purpose: Returns the name of the setting in which a session keeps its own place in the line of a
--   queue, for a worker.
-- Called by: _pick_keyed.

begin;

create function _qwf.turn_setting(p_queue text, p_worker text) returns text
language sql immutable
as $$
  select 'qwf.line_' || (hashtextextended(p_queue || ' ' || coalesce(p_worker, ''), 0)
    & 9223372036854775807)
$$;

commit;
