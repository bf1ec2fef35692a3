-- Parts of an expression that are the same for all elements of a map, resolved once.

-- Replaces every reference that is the same for all elements of a map by its value. Resolving
-- the result needs only $item and $index, so that 10,000 elements need not carry the scope. It
-- gives what resolving p_value in the whole scope would give: the same value, or an error of the
-- same kind. Never raises.
create function _qwf.fold(p_value jsonb, p_scope jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution;
begin
  if p_value::text !~ '"[$]' then
    return p_value;
  elsif p_value::text !~ '"[$](item|index)' then
    v_found := _qwf.resolve_value(p_value, p_scope);
    if v_found.error is null then
      return case when v_found.value::text ~ '"[$]'
        then jsonb_build_object('$value', v_found.value) else v_found.value end;
    end if;
  end if;
  return _qwf.fold_inside(p_value, p_scope);
end $$;

-- Folds the parts of a value that refers to the element of a map, or that cannot be resolved as
-- a whole. A malformed expression stays as it is: resolving checks the whole expression before
-- any part of it. Does not search data ($value, the schema of a $check).
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

-- Folds the path of a $from, in an expression that refers to the element of a map. A path that
-- leads to a value becomes one that starts from that value. A path that starts from $item or
-- $index, or leads nowhere, stays.
create function _qwf.fold_path(p_path jsonb, p_scope jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := coalesce(p_path ->> 0, split_part(p_path #>> '{}', '.', 1));
  v_found _qwf.resolution;
begin
  if jsonb_typeof(p_path -> 0) = 'object' then
    v_found.value := _qwf.fold(p_path -> 0, p_scope);
    return jsonb_build_array(case jsonb_typeof(v_found.value)
      when 'object' then v_found.value
      else jsonb_build_object('$value', v_found.value) end) || (p_path - 0);
  elsif v_name not in ('$item', '$index') then
    v_found := _qwf.resolve_path(p_path, p_scope);
    if v_found.error is null then
      return jsonb_build_array(jsonb_build_object('$value', v_found.value));
    end if;
  end if;
  return p_path;
end $$;
