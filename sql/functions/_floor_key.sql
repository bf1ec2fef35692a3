-- Deploy qwf:functions/_floor_key
-- requires: schema/qwf
-- Purpose: Under which name a session keeps the floor of a queue and a worker: in a pool, several
--   workers share a session.
-- Called by: _floor, _keep_floor, _pass_on.

begin;

create function qwf._floor_key(p_queue text, p_worker text) returns text
language sql immutable
as $$
  select p_queue || ' ' || coalesce(p_worker, '')
$$;
comment on function qwf._floor_key(text, text) is
  'Key of a floor in the setting qwf.floors; the worker is null where it is not registered.';
revoke all on function qwf._floor_key(text, text) from public;

commit;
