-- Deploy qwf:functions/workers/worker_orders
-- Purpose: Returns what a worker is ordered to do: serve its queue, or stop, and how; and what is
--   set for its model servers.
-- Guarantees: Always one row; on for a worker without an order and for one that is not registered.
-- Called by: agents, at start, on a NOTIFY on worker_control, and with every heartbeat.

begin;

create function qwf.worker_orders(worker text)
returns table (
  state text, policy text, login text, acting_for text, reason text, until timestamptz,
  server text, parallel int, server_idle interval
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select case when o.host is null then 'on' else 'off' end, o.stop_policy, o.login,
    o.acting_for, o.reason,
    o.until, c.server, c.parallel, c.server_idle
  from qwf.workers w
  left join qwf.worker_controls c on c.host_label = w.host and c.queue = w.queue
  left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
  where w.id = worker_orders.worker;
  if not found then
    state := 'on';
    return next;
  end if;
end $$;
comment on function qwf.worker_orders is
  'The orders for a worker, in one row. state: on or off. If off: policy hard (kill the bodies, '
  'release their jobs, free the memory, park), drain (finish them, then park) or pause (claim '
  'nothing, keep the model), the login that asked and for whom, why, and until when. server, '
  'parallel and server_idle: '
  'what configure_server() has set.';
call _qwf.allow('qwf.worker_orders', 'qwf_worker');

commit;
