-- Deploy qwf:functions/workers/configure_server
-- Purpose: Says which model server of a host is the only one that serves a queue, how many requests
--   each takes at once, and after which idle time it is stopped.
-- Guarantees: Replaces all three: null means as the agent is configured, and for server that all of
--   them serve. Agents follow without a restart, and still after one. Does not switch anything on
--   or off. The triggers tell the agents and write the event, also for a plain INSERT or UPDATE of
--   worker_controls.
-- Locks: the row of host and queue.
-- Notifies: worker_control, with host:queue; worker_llm_config_changed, with host|queue.
-- Called by: operators, qwf worker set.

begin;

create function qwf.configure_server(
  host text, queue text, server text default null, parallel int default null,
  idle interval default null, acting_for text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_before constant text := _qwf.act_for(configure_server.acting_for);
begin
  perform _qwf.check_text('host', configure_server.host),
    _qwf.check_text('server', configure_server.server, 200);
  if coalesce(configure_server.host, '') = '' or configure_server.server = ''
    or configure_server.parallel not between 1 and 10000
    or not _qwf.is_duration(configure_server.idle, '366 days', p_least => '0 s') then
    raise exception using errcode = 'QW005', message = 'invalid server',
      detail = format('host %L, server %L, parallel %s, idle %s',
        left(configure_server.host, 200), left(configure_server.server, 200),
        configure_server.parallel, configure_server.idle),
      hint = 'name the host; parallel is 1 to 10000, idle is 0 (never stop it) to 366 days';
  end if;
  insert into qwf.worker_controls as c (
    host_label, queue, server, parallel, server_idle)
  values (
    configure_server.host, configure_server.queue, configure_server.server,
    configure_server.parallel, configure_server.idle)
  on conflict (host_label, queue) do update set
    server = excluded.server, parallel = excluded.parallel, server_idle = excluded.server_idle;
  perform set_config('qwf.acting_for', v_before, true);
end $$;
comment on function qwf.configure_server is
  'Sets which model server of a host is the only one that serves a queue (null: all serve), how '
  'many requests each takes at once, and after which idle time it is stopped (0: never); null: as '
  'the agent is configured. QW005 for a value out of range, a server that the host does not have, '
  'or a queue where it has none; QW006 for an unknown queue.';
call _qwf.allow('qwf.configure_server', 'qwf_admin');

commit;
