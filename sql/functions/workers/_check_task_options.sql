-- Deploy qwf:functions/workers/_check_task_options
-- Purpose: Refuses options of tasks that are not texts by their names, which find_missing_options
--   could not read.
-- Raises: QW005.
-- Called by: register_worker, update_worker.

begin;

create function _qwf.check_task_options(p_options jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_valid boolean := coalesce(jsonb_typeof(p_options), 'object') = 'object';
begin
  if v_valid then
    select coalesce(bool_and(jsonb_typeof(t.value) = 'object'), true) into v_valid
    from jsonb_each(p_options) t;
  end if;
  if v_valid then
    select coalesce(bool_and(jsonb_typeof(o.value) = 'string'), true) into v_valid
    from jsonb_each(p_options) t
    cross join lateral jsonb_each(t.value) o;
  end if;
  if not v_valid then
    raise exception using errcode = 'QW005', message = 'invalid worker',
      detail = format('info.task_options %s', _qwf.excerpt(p_options)),
      hint = 'write {"task": {"option": "value as a text"}}';
  end if;
end $$;

commit;
