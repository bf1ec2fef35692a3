-- Deploy qwf:functions/workers/desired_state
-- Purpose: Returns whether a host should serve a queue: on or off.
-- Guarantees: No row means on, and so does an off whose time has passed.
-- Called by: people, agents and other functions.

begin;

create function qwf.desired_state(host text, queue text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return case when exists (
    select from qwf.switched_off o
    where o.host = desired_state.host and o.queue = desired_state.queue
  ) then 'off' else 'on' end;
end $$;
comment on function qwf.desired_state is
  'on or off: whether the host should serve the queue. No row in worker_controls means on.';
call _qwf.allow('qwf.desired_state', 'qwf_worker', 'qwf_viewer');

commit;
