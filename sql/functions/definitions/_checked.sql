-- Deploy qwf:functions/definitions/_checked
-- Purpose: Reports what is wrong with a value where a JSON Schema cannot say it: the checks that
--   x-check and x-last name in the schema of definitions.
-- Guarantees: A list of two keys wants the number of the first not to be larger than that of the
--   second. Where x-says has the sentence, the problem has no text.
-- Called by: _misfits, _misfits_at.

begin;

create function _qwf.checked(p_value jsonb, p_check jsonb, p_path text) returns _qwf.problem[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minimum constant jsonb := p_value -> 'min_success';
  v_wrong boolean;
begin
  if jsonb_typeof(p_check) = 'array' then
    v_wrong := p_value -> (p_check ->> 0) > p_value -> (p_check ->> 1);
    return case when v_wrong then array[row(p_path, '', null)::_qwf.problem] else '{}' end;
  end if;
  case p_check #>> '{}'
    when 'duration' then v_wrong := _qwf.as_interval(p_value) is null;
    when 'pattern' then v_wrong := not _qwf.is_pattern(p_value);
    when 'backoff' then v_wrong := _qwf.backoff_seconds(p_value, 1) is null;
    when 'expression' then
      v_wrong := not exists (
        select from jsonb_object_keys(_qwf.as_object(p_value)) k where starts_with(k, '$'));
    when 'reachable' then
      v_wrong := jsonb_typeof(p_value -> 'map') = 'array' and jsonb_typeof(v_minimum) = 'number'
        and v_minimum > to_jsonb(jsonb_array_length(_qwf.as_list(p_value -> 'map')));
    when 'value' then
      return array(select p from _qwf.expression_problems(p_value, p_path) p);
    when 'path' then
      return array(
        select (p_path, p.problem, p.hint)::_qwf.problem
        from _qwf.expression_problems(jsonb_build_object('$from', p_value), p_path) p);
    when 'queue', 'limit' then
      return array(
        select p from _qwf.unknown_names(p_check #>> '{}', p_value #>> '{}', p_path) p);
    when 'requires' then
      return array(
        select (p_path, r.problem, r.hint)::_qwf.problem
        from (values
          (_qwf.requires_problem(p_value),
            'a worker has the labels of --label, which are texts, and the label "host"'),
          (case when octet_length(p_value::text) > 65536 then 'has more than 64 KiB' end, null)
        ) r (problem, hint)
        where r.problem is not null);
    when 'names' then
      return array(
        select (format('%s[%s].name', p_path, i.place - 1), format('"%s" is given twice', i.name),
          null)::_qwf.problem
        from (
          select l.place, l.item ->> 'name' as name,
            row_number() over (partition by l.item ->> 'name' order by l.place) as nth
          from _qwf.items(p_value) l) i
        where i.nth > 1 and i.name is not null);
    when 'members' then
      return array(
        select (format('%s.%s[%s]', p_path, k.key, r.place - 1), 'is not among the properties',
          null)::_qwf.problem
        from unnest('{required,properties_order}'::text[]) k (key)
        cross join lateral jsonb_array_elements(_qwf.as_list(p_value -> k.key))
          with ordinality as r (name, place)
        where jsonb_typeof(r.name) = 'string' and jsonb_typeof(p_value -> 'properties') = 'object'
          and not p_value -> 'properties' ? (r.name #>> '{}'));
    when 'default' then
      return array(
        select p from _qwf.schema_problems(p_value -> 'default', p_value, p_path || '.default') p
        where p_value ? 'default');
    when 'answer' then
      return array(
        select (p_path || regexp_replace(p.path, '^value', '.default'), p.problem,
          p.hint)::_qwf.problem
        from _qwf.answer_problems(  -- with a reference in them, only a run knows the options
          case when jsonb_build_array(p_value -> 'options', p_value -> 'source')::text ~ '"[$]'
            then p_value - array['widget', 'options'] else p_value end,
          p_value -> 'default') p
        where p_value -> 'default' <> 'null');
  end case;
  return case when v_wrong then array[row(p_path, '', null)::_qwf.problem] else '{}' end;
end $$;

commit;
