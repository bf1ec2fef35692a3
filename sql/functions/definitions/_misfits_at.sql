-- Deploy qwf:functions/definitions/_misfits_at
-- Purpose: Reports how a value itself does not fit a part of the JSON Schema of definitions; the
--   values in it, and the further schemas that apply to it, are left to _misfits.
-- Guarantees: Knows the keywords that the schema uses, and no others. x-says is what is wrong with
--   a value that does not fit for any reason but its type; x-hint is its hint, x-at the key that it
--   is about, %s the value. x-check is what a schema cannot say, in place of the other keywords.
-- Called by: _misfits.

begin;

create function _qwf.misfits_at(p_value jsonb, p_schema jsonb, p_path text)
returns _qwf.problem[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := jsonb_typeof(p_value);
  v_found _qwf.problem[] := '{}';
  v_wrong boolean;
begin
  if p_schema ? 'type' and not _qwf.is_type(p_value, p_schema -> 'type') then
    return array[row(p_path, format('must be of type %s, not %s', array_to_string(
      array(select jsonb_array_elements_text('[]' || (p_schema -> 'type'))), ' or '), v_type),
      null)::_qwf.problem];
  elsif p_schema ? 'x-says' then
    return case when _qwf.misfits(p_value, p_schema - '{type,x-says}'::text[], p_path) = '{}'
      then '{}' else array[row(
        ltrim(concat_ws('.', p_path, p_schema ->> 'x-at'), '.'),
        replace(p_schema ->> 'x-says', '%s', coalesce(p_value #>> '{}', '')),
        p_schema ->> 'x-hint')::_qwf.problem] end;
  elsif p_schema ? 'x-check' then
    return _qwf.checked(p_value, p_schema -> 'x-check', p_path);
  end if;
  v_wrong := p_schema = 'false' or coalesce(p_value <> p_schema -> 'const', false)
    or p_schema ? 'enum'
      and (v_type in ('object', 'array') or not p_schema -> 'enum' @> p_value)
    or coalesce(case v_type
      when 'number' then p_value < p_schema -> 'minimum' or p_value > p_schema -> 'maximum'
        or p_value <= p_schema -> 'exclusiveMinimum'
      when 'string' then p_value #>> '{}' !~ (p_schema ->> 'pattern')
        or length(p_value #>> '{}') < (p_schema ->> 'minLength')::int
        or length(p_value #>> '{}') > (p_schema ->> 'maxLength')::int
      when 'array' then p_schema ? 'minItems' and p_value = '[]'
        or jsonb_array_length(p_value) > (p_schema ->> 'maxItems')::int end, false)
    or p_schema ? 'not' and _qwf.misfits(p_value, p_schema -> 'not', p_path) = '{}';
  if p_schema ? 'anyOf' then
    v_wrong := v_wrong or not exists (
      select from jsonb_array_elements(p_schema -> 'anyOf') a
      where _qwf.misfits(p_value, a, p_path) = '{}');
  end if;
  if v_type = 'object' and p_schema ? 'propertyNames' then
    v_wrong := v_wrong or exists (
      select from jsonb_object_keys(p_value) k
      where _qwf.misfits(to_jsonb(k), p_schema -> 'propertyNames', p_path) <> '{}');
  end if;
  if v_wrong then
    v_found := array[row(p_path, 'is not allowed', null)::_qwf.problem];
  end if;
  if v_type = 'object' and p_schema ?| '{required,dependentRequired}' then
    v_found := v_found || array(
      select row(ltrim(p_path || '.' || k, '.'), 'is missing', null)::_qwf.problem
      from (
        select jsonb_array_elements_text(p_schema -> 'required')
        union all
        select jsonb_array_elements_text(d.value)
        from jsonb_each(p_schema -> 'dependentRequired') d where p_value ? d.key) needed (k)
      where not p_value ? k);
  end if;
  if v_type = 'object' and (p_schema -> 'unevaluatedProperties' = 'false'
    or p_schema -> 'additionalProperties' = 'false' and exists (
      select from jsonb_object_keys(p_value) k where not p_schema -> 'properties' ? k))
  then
    v_found := v_found || array(select u from _qwf.unknown_keys(p_value, p_schema, p_path) u);
  end if;
  return v_found;
end $$;

commit;
