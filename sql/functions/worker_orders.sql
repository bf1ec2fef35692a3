-- Deploy qwf:functions/worker_orders
-- requires: schema/workers
-- requires: schema/roles
-- requires: functions/now
-- Purpose: What a worker is ordered to do: serve its queue, or stop, and how.
-- Guarantees: One row, always; on for a worker that nobody ordered anything or nobody registered.
-- Called by: agents, at start, on a NOTIFY on worker_control, and with every heartbeat.

begin;

create function qwf.worker_orders(worker text)
returns table (state text, policy text, requested_by text, reason text, until timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select c.desired_state, c.stop_policy, c.requested_by, c.reason, c.until
  from qwf.workers w
  join qwf.worker_controls c on c.host_label = w.host and c.queue = w.queue
  where w.id = worker_orders.worker and c.desired_state = 'off'
    and (c.until is null or c.until > qwf.now());
  if not found then
    state := 'on';
    return next;
  end if;
end $$;
comment on function qwf.worker_orders(text) is
  'What the worker is to do, one row. state: on or off. With off: policy hard (kill bodies, '
  'release their jobs, free the memory, park), drain (finish them, then park) or pause (claim '
  'nothing, keep the model), who asked, why, and until when.';
revoke all on function qwf.worker_orders(text) from public;
call qwf._allow('qwf.worker_orders(text)', 'qwf_worker');

commit;
