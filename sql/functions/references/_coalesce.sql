-- Deploy qwf:functions/references/_coalesce
-- Purpose: Resolves a $coalesce: its first candidate that is there and is not null.
-- Guarantees: Passes over unresolvable candidates alone; a malformed or invalid one is an error.
--   Never raises.
-- Called by: _resolve_expression.

begin;

create function _qwf.coalesce(p_expression jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_candidate jsonb;
  v_found _qwf.resolution;
begin
  for v_candidate in select c from jsonb_array_elements(p_expression -> '$coalesce') c loop
    v_found := _qwf.resolve_value(v_candidate, p_scope);
    if v_found.value <> 'null' or not starts_with(v_found.error, 'unresolvable') then
      return v_found;
    end if;
  end loop;
  if p_expression ? '$default' then
    return _qwf.resolve_value(p_expression -> '$default', p_scope);
  end if;
  return row(null, 'unresolvable: no candidate of "$coalesce" has a value')::_qwf.resolution;
end $$;

commit;
