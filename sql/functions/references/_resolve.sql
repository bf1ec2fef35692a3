-- Deploy qwf:functions/references/_resolve
-- Purpose: Resolves the references of a value.
-- Guarantees: Never raises and starts no subtransaction: an error is a value. Its text begins with
--   "unresolvable" (a path leads nowhere), "malformed" (not an expression) or "invalid" (a value of
--   the wrong kind). Simple expressions handle the common case: an object whose members are
--   literals and plain compiled references.
-- Called by: whatever hands out, opens, compiles or tests a reference.

begin;

create function _qwf.resolve(p_value jsonb, p_scope jsonb) returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb := jsonb '{}';
  v_keys text[];
  v_key text;
  v_member jsonb;
  v_path text[];
begin
  if jsonb_typeof(p_value) = 'object' then
    v_keys := array(select jsonb_object_keys(p_value));
  end if;
  if coalesce(cardinality(v_keys), 101) > 100 then  -- adding members one by one takes n * n time
    return _qwf.resolve_value(coalesce(p_value, 'null'), coalesce(p_scope, '{}'));
  end if;
  foreach v_key in array v_keys loop
    v_member := p_value -> v_key;
    if jsonb_typeof(v_member) in ('object', 'array') then
      if jsonb_typeof(v_member -> '$from') = 'array' and v_member - '$from' = '{}' then
        v_member := v_member -> '$from';
        v_path := '{}';
        for v_index in 0 .. jsonb_array_length(v_member) - 1 loop
          v_path := v_path || case jsonb_typeof(v_member -> v_index)
            when 'string' then v_member ->> v_index end;
        end loop;
        v_member := p_scope #> nullif(v_path, '{}');
      elsif v_member::text ~ '"[$]' then
        v_member := (_qwf.resolve_value(v_member, coalesce(p_scope, '{}'))).value;
      end if;
    end if;
    if v_member is null or starts_with(v_key, '$') then  -- an expression or an error
      return _qwf.resolve_value(p_value, coalesce(p_scope, '{}'));
    end if;
    v_value := v_value || jsonb_build_object(v_key, v_member);
  end loop;
  return row(v_value, null)::_qwf.resolution;
end $$;

commit;
