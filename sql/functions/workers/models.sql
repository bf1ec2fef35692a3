-- Requests to load models, and the settings of model servers. Locks: the request, or the row of
-- the host and queue.

-- Asks a worker to load or unload a model. One worker of the host takes the request, between two
-- jobs. Requests older than a day are deleted.
-- Notifies: worker_control, with host:queue.
create function qwf.request_model(
  host text, queue text, model text, action text default 'load', acting_for text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_before constant text := _qwf.act_for(request_model.acting_for);
  v_now timestamptz := qwf.now();
  v_id bigint;
begin
  if starts_with(request_model.queue, 'qwf.')
    or not exists (select from qwf.queues q where q.name = request_model.queue)
  then
    perform _qwf.raise_unknown_queue(request_model.queue);
  end if;
  if coalesce(request_model.action not in ('load', 'unload'), true)
    or (request_model.model is null and request_model.action = 'load') then
    raise exception using errcode = 'QW005', message = 'invalid request',
      detail = format('action %L, model %L', left(request_model.action, 200),
        left(request_model.model, 200)),
      hint = 'load a model by name, or unload it; unload without a name unloads every model';
  end if;
  if not exists (
    select from qwf.workers w cross join qwf.settings s
    where w.host = request_model.host and w.queue = request_model.queue and w.stopped_at is null
      and w.last_seen > v_now - s.worker_stale
      and (request_model.model is null or request_model.model = any (w.models)
        or exists (  -- of a model server that cannot serve now
          select from jsonb_array_elements(w.servers) s
          where s.value -> 'models' ? request_model.model))
  ) then
    raise exception using errcode = 'QW002', message = 'no worker there has this model',
      detail = format('host %L, queue %L, model %L',
        left(request_model.host, 200), left(request_model.queue, 200),
        left(request_model.model, 200)),
      hint = coalesce(
        case when not exists (select from qwf.workers w where w.host = request_model.host)
          then _qwf.did_you_mean(
            request_model.host, array(select distinct w.host from qwf.workers w)) end,
        _qwf.did_you_mean(request_model.model, array(
          select distinct m.name from qwf.workers w cross join unnest(w.models) m (name)
          where w.host = request_model.host and m.name <> request_model.model)),
        'start an agent there that registers the model; worker_overview shows who serves what');
  end if;
  delete from qwf.model_requests r where r.requested_at < v_now - interval '1 day';
  insert into qwf.model_requests (host, queue, model, action, requested_at)
  values (
    request_model.host, request_model.queue, request_model.model, request_model.action,
    v_now)
  returning id into v_id;
  insert into _qwf.event_log (at, kind, subject, detail)
  values (v_now, 'worker_model', request_model.host, jsonb_strip_nulls(jsonb_build_object(
    'host', request_model.host, 'queue', request_model.queue, 'action', request_model.action,
    'model', request_model.model)));
  perform set_config('qwf.acting_for', v_before, true);
  perform pg_notify('worker_control', format('%s:%s', request_model.host, request_model.queue));
  return v_id;
end $$;
comment on function qwf.request_model is
  'Asks the worker of a host on a queue to load or unload a model and returns the id of the '
  'request; table model_requests shows how it ended. A null model unloads all. QW002 if no live '
  'worker there has the model, QW005 for an invalid action, QW006 for an unknown queue.';
call _qwf.allow('qwf.request_model', 'qwf_admin');

-- Hands a worker the requests about models on its box. A request is handed out once, within five
-- minutes or never.
-- Locks: requests that nobody else has locked.
create function qwf.take_model_requests(worker text) returns setof qwf.model_requests
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_worker qwf.workers;
begin
  select w.* into v_worker from qwf.workers w
  where w.id = take_model_requests.worker and w.stopped_at is null;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such worker',
      detail = format('worker %L', left(take_model_requests.worker, 200)),
      hint = 'register it again with register_worker()';
  end if;
  return query
  update qwf.model_requests r set taken_by = v_worker.id
  from (
    select f.id from qwf.model_requests f
    where f.host = v_worker.host and f.queue = v_worker.queue and f.taken_by is null
      and f.requested_at > qwf.now() - interval '5 min'
      and (f.model is null or f.model = any (v_worker.models)
        or exists (  -- of a model server that cannot serve now
          select from jsonb_array_elements(v_worker.servers) s
          where s.value -> 'models' ? f.model))
    order by f.id
    limit 10
    for update skip locked
  ) open
  where r.id = open.id
  returning r.*;
end $$;
comment on function qwf.take_model_requests is
  'Requests to load or unload models that the worker is to carry out, each handed out once; QW001 '
  'for a worker that is not registered.';
call _qwf.allow('qwf.take_model_requests', 'qwf_worker');

-- Records how a request to load or unload a model ended, or how far it is. Only the worker that
-- took the request can answer it, and only until it has ended. Keeps the last progress, at most
-- 200 bytes of it.
-- Locks: the request.
create function qwf.answer_model_request(
  id bigint, worker text, error text default null, progress text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.model_requests r set
    progress = coalesce(_qwf.clip(answer_model_request.progress, 200), r.progress),
    error = _qwf.clip(answer_model_request.error, 4096),
    answered_at = case
      when answer_model_request.progress is null or answer_model_request.error is not null
        then qwf.now() end
  where r.id = answer_model_request.id and r.taken_by = answer_model_request.worker
    and r.answered_at is null;
end $$;
comment on function qwf.answer_model_request is
  'Records that the worker has carried out a request about a model, or why it could not (error). '
  'With progress and without error it has not ended: progress says in words how far it is.';
call _qwf.allow('qwf.answer_model_request', 'qwf_worker');

-- Says which model server of a host is the only one that serves a queue, how many requests each
-- takes at once, and after which idle time it is stopped. Replaces all three: null means as the
-- agent is configured, and for server that all of them serve. Agents follow without a restart,
-- and still after one. Does not switch anything on or off. The triggers tell the agents and
-- write the event, also for a plain INSERT or UPDATE of worker_controls.
-- Locks: the row of host and queue.
-- Notifies: worker_control, with host:queue; worker_llm_config_changed, with host|queue.
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

-- Records that a model server failed too often to be started again soon. Writes the event
-- server_broken, with at most 8 KiB of the error. False for a worker that is not registered.
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
