-- Deploy qwf:functions/workers/take_model_requests
-- Purpose: Hands a worker the requests about models on its box.
-- Guarantees: A request is handed out once, within five minutes or never.
-- Locks: requests that nobody else has locked.
-- Called by: agents, with each heartbeat.

begin;

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

commit;
