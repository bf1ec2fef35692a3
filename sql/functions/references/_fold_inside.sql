-- Deploy qwf:functions/references/_fold_inside
-- Purpose: Folds the parts of a value that refers to the element of a map, or that cannot be
--   resolved as a whole.
-- Guarantees: A malformed expression stays as it is: resolving checks the whole expression before
--   any part of it. Does not search data ($value, the schema of a $check).
-- Called by: _fold, itself.

begin;

create function _qwf.fold_inside(p_value jsonb, p_scope jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  elsif jsonb_typeof(p_value) = 'array' then
    return (select jsonb_agg(_qwf.fold(e.value, p_scope) order by e.position)
            from jsonb_array_elements(p_value) with ordinality as e (value, position));
  elsif jsonb_typeof(p_value) <> 'object' then
    return p_value;
  elsif exists (select from jsonb_object_keys(p_value) k where starts_with(k, '$'))
    and (p_value ? '$value' or _qwf.malformed(p_value) is not null)
  then
    return p_value;
  end if;
  return (
    select jsonb_object_agg(m.key, case
        when m.key = '$from' then _qwf.fold_path(m.value, p_scope)
        when m.key = '$coalesce' then _qwf.fold_inside(m.value, p_scope)
        when m.key = '$filter' then (  -- a text that a reference gave stays marked as data
          select coalesce(jsonb_object_agg(o.key, case
              when jsonb_typeof(o.value) = 'object' and jsonb_typeof(f.folded) = 'string'
                then jsonb_build_object('$value', f.folded)
              else f.folded end), '{}')
          from jsonb_each(m.value) o
          cross join lateral (select _qwf.fold(o.value, p_scope) as folded offset 0) f)
        when p_value ? '$check' and m.key <> '$check' then m.value
        else _qwf.fold(m.value, p_scope)
      end)
    from jsonb_each(p_value) m);
end $$;

commit;
