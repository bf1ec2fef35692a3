-- Deploy qwf:functions/workers/report_broken_server
-- Purpose: Records that a model server failed too often to be started again soon.
-- Guarantees: Writes the event server_broken, with at most 8 KiB of the error. False for a worker
--   that is not registered.

begin;

create function qwf.report_broken_server(worker text, server text, error text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_text('server', report_broken_server.server, 200);
  insert into _qwf.open_states as o (kind, subject, since, names)  -- until it works again
  select 'server_broken', w.host || ' ' || report_broken_server.server, qwf.now(),
    jsonb_build_object(
      'host', w.host, 'queue', w.queue, 'server', report_broken_server.server)
  from qwf.workers w
  where w.id = report_broken_server.worker and w.stopped_at is null
    and report_broken_server.server is not null
  on conflict (kind, subject) do nothing;
  insert into _qwf.event_log (at, kind, subject, detail)
  select qwf.now(), 'server_broken', w.host, jsonb_build_object(
    'worker', w.id, 'host', w.host, 'queue', w.queue, 'server', report_broken_server.server,
    'error', _qwf.clip(report_broken_server.error, 8192))
  from qwf.workers w
  where w.id = report_broken_server.worker and w.stopped_at is null;
  return found;
end $$;
comment on function qwf.report_broken_server is
  'Records the event server_broken with the error and the end of the log of a model server that '
  'failed too often; false for an unknown worker. QW005 for a name that is too long.';
call _qwf.allow('qwf.report_broken_server', 'qwf_worker');

commit;
