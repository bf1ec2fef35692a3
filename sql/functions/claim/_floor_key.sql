-- Deploy qwf:functions/claim/_floor_key
-- Purpose: Under which name a session keeps the floor of a queue and a worker: in a pool, several
--   workers share a session.
-- Called by: _floor, _keep_floor, _wake_another.

begin;

create function _qwf.floor_key(p_queue text, p_worker text) returns text
language sql immutable
as $$
  select p_queue || ' ' || coalesce(p_worker, '')
$$;

commit;
