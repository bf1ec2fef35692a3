-- Deploy qwf:functions/walks/_floor_key
-- Purpose: Returns the name under which a session keeps the floor of a queue for a worker. Several
--   workers of a pool share a session.
-- Called by: _keep_floor, _pick_above, _usable_floor, _wake_another.

begin;

create function _qwf.floor_key(p_queue text, p_worker text) returns text
language sql immutable
as $$
  select p_queue || ' ' || coalesce(p_worker, '')
$$;

commit;
