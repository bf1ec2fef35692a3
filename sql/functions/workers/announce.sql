-- Deploy qwf:functions/workers/announce
-- Purpose: Says anew which tasks and models a worker has, after its code has changed.
-- Guarantees: What it holds and how it is known stay; claim goes by it from now on. A key that
--   info lacks stays as it was.
-- Locks: the worker's row.
-- Raises: QW001 for a worker that is not registered, QW005 for info that is malformed.
-- Called by: agents.

begin;

create function qwf.announce(worker text, info jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if jsonb_typeof(announce.info) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'not an announcement',
      detail = format('info %s', left(announce.info::text, 200)), hint = 'info is a JSON object';
  end if;
  update qwf.workers w set
    tasks = case when announce.info ? 'tasks' then i.tasks else w.tasks end,
    models = case when announce.info ? 'models' then i.models else w.models end
  from jsonb_to_record(announce.info) i (tasks text[], models text[])
  where w.id = announce.worker and w.stopped_at is null;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such worker',
      detail = format('worker %L', announce.worker),
      hint = 'register it again with register_worker()';
  end if;
exception
  when data_exception then
    raise exception using errcode = 'QW005', message = 'not an announcement', detail = sqlerrm,
      hint = 'tasks and models are lists of names';
end $$;
comment on function qwf.announce is
  'Replaces the tasks and models that a worker announced when it registered; null: it filters by '
  'none. QW001 for an unknown worker, QW005 for info that is malformed.';
call _qwf.allow('qwf.announce', 'qwf_worker');

commit;
