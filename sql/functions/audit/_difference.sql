-- Deploy qwf:functions/audit/_difference
-- Purpose: Returns what differs between an object before and after a change, as {old, new}.
-- Guarantees: Only keys whose values differ; a null counts as no value. Null if nothing differs.
--   A long value becomes a text that is cut to 500 characters.
-- Called by: _record_change, _change_notify, _change_waiting, tg_worker_controls__change.

begin;

create function _qwf.difference(p_old jsonb, p_new jsonb) returns jsonb
language sql immutable
as $$
  select nullif(jsonb_strip_nulls(jsonb_build_object(
    'old', jsonb_object_agg(k.key, v.old) filter (where v.old <> 'null'),
    'new', jsonb_object_agg(k.key, v.new) filter (where v.new <> 'null'))), '{}')
  from jsonb_object_keys(coalesce(p_old, '{}') || coalesce(p_new, '{}')) k (key)
  cross join lateral (
    select
      case when length(p_old ->> k.key) > 500 then to_jsonb(left(p_old ->> k.key, 500) || '...')
        else p_old -> k.key end as old,
      case when length(p_new ->> k.key) > 500 then to_jsonb(left(p_new ->> k.key, 500) || '...')
        else p_new -> k.key end as new
  ) v
  where nullif(p_old -> k.key, 'null') is distinct from nullif(p_new -> k.key, 'null')
$$;

commit;
