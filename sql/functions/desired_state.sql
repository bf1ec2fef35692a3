-- Deploy qwf:functions/desired_state
-- requires: schema/workers
-- requires: schema/roles
-- requires: functions/now
-- Purpose: Whether a host should serve a queue.
-- Guarantees: No row means on; so does an off whose time has passed.
-- Called by: people, agents, and the walks of claim.

begin;

create function qwf.desired_state(host text, queue text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return case when exists (
    select from qwf.worker_controls c
    where c.host_label = desired_state.host and c.queue = desired_state.queue
      and c.desired_state = 'off' and (c.until is null or c.until > qwf.now())
  ) then 'off' else 'on' end;
end $$;
comment on function qwf.desired_state(text, text) is
  'on or off: whether the host should serve the queue. No row in worker_controls means on.';
revoke all on function qwf.desired_state(text, text) from public;
call qwf._allow('qwf.desired_state(text, text)', 'qwf_worker', 'qwf_viewer');

commit;
