-- Deploy qwf:functions/enqueue/_engine_label
-- Purpose: Returns a label whose name begins with qwf., which nobody but the engine may use; null:
--   there is none.
-- Guarantees: The mark of the typed Python client, qwf.checked with true, is none of these: the
--   engine takes it out. Nor is qwf.notify with the name of a receiver: it says whom events of the
--   job or run are told.
-- Called by: _check_run, _job_problem.

begin;

create function _qwf.engine_label(p_labels jsonb) returns text
language sql immutable strict
set search_path = pg_catalog, pg_temp
as $$
  select left(l.key, 100)
  from jsonb_each(case when jsonb_typeof(p_labels) = 'object' then p_labels else '{}' end) l
  where starts_with(l.key, 'qwf.') and not (l.key = 'qwf.checked' and l.value = 'true')
    and not coalesce(l.key = 'qwf.notify' and _qwf.is_receiver(l.value #>> '{}'), false)
  limit 1
$$;

commit;
