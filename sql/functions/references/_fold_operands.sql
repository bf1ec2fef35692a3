-- Deploy qwf:functions/references/_fold_operands
-- Purpose: Folds the operands of a $filter.
-- Guarantees: A text that a reference gave stays marked as data ($value): it is held to other rules
--   than a pattern of the definition (see _apply_filter).
-- Called by: _fold_inside.

begin;

create function _qwf.fold_operands(p_operands jsonb, p_scope jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(o.key, case
      when jsonb_typeof(o.value) = 'object' and jsonb_typeof(f.folded) = 'string'
        then jsonb_build_object('$value', f.folded)
      else f.folded end), '{}')
  from jsonb_each(p_operands) o
  cross join lateral (select _qwf.fold(o.value, p_scope) as folded offset 0) f
$$;

commit;
