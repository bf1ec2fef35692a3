-- Deploy qwf:functions/workers/update_worker
-- Purpose: Updates the tasks, their options, the models and the servers of a registered worker,
--   whose code has changed or whose model servers cannot serve or can serve again.
-- Guarantees: The worker keeps its id and its jobs; claim uses the new lists from now on. A key
--   that info lacks stays as it was.
-- Locks: the worker's row.

begin;

create function qwf.update_worker(worker text, info jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_json('info', update_worker.info);
  if jsonb_typeof(update_worker.info) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid worker',
      detail = format('info %s', _qwf.excerpt(update_worker.info)),
      hint = 'info is a JSON object';
  end if;
  perform _qwf.check_keys(
    'info.', update_worker.info, '{tasks,task_options,models,servers,new_code}');
  if update_worker.info -> 'new_code' = 'true' then  -- before the row of the worker is locked
    perform _qwf.free_tasks(w.queue, w.tasks) from qwf.workers w where w.id = update_worker.worker;
  end if;
  perform _qwf.check_servers(update_worker.info -> 'servers'),
    _qwf.check_task_options(update_worker.info -> 'task_options');
  update qwf.workers w set
    tasks = case when update_worker.info ? 'tasks' then i.tasks else w.tasks end,
    models = case when update_worker.info ? 'models' then i.models else w.models end,
    servers = case when update_worker.info ? 'servers' then coalesce(i.servers, '[]')
      else w.servers end,
    task_options = coalesce(i.task_options, w.task_options)
  from jsonb_to_record(update_worker.info) i (
    tasks text[], models text[], servers jsonb, task_options jsonb)
  where w.id = update_worker.worker and w.stopped_at is null;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such worker',
      detail = format('worker %L', left(update_worker.worker, 200)),
      hint = 'register it again with register_worker()';
  end if;
exception
  when data_exception then
    raise exception using errcode = 'QW005', message = 'invalid worker', detail = sqlerrm,
      hint = 'tasks and models are lists of names';
end $$;
comment on function qwf.update_worker is
  'Replaces the tasks, task_options, models and servers that a worker announced when it '
  'registered; tasks or models null: not filtered. new_code: true says that its tasks have new '
  'code, which ends the time for which they are held back. QW001 for an unknown worker, QW005 for '
  'malformed info or another key.';
call _qwf.allow('qwf.update_worker', 'qwf_worker');

commit;
