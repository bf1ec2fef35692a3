-- Deploy qwf:functions/workers/request_model
-- Purpose: Asks a worker to load or unload a model.
-- Guarantees: One worker of the host takes the request, between two jobs. Requests older than a day
--   are deleted.
-- Notifies: worker_control, with host:queue.
-- Called by: operators, qwf worker load and unload.

begin;

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

commit;
