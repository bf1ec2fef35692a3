-- Deploy qwf:functions/references/_apply_filter
-- Purpose: Returns the elements of a list that meet every condition of a $filter, in their order.
-- Guarantees: A value that is not a list, or an invalid pattern, gives an error value. Expects the
--   resolved conditions, and the conditions as they are written: a pattern that a reference gave
--   must be plain, because a producer must not choose how long it takes.
-- Called by: _resolve_expression.

begin;

create function _qwf.apply_filter(p_list jsonb, p_conditions jsonb, p_written jsonb)
returns _qwf.resolution
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_list jsonb := p_list;
  v_key text;
  v_operand jsonb;
  v_field text[];
  v_matches boolean;
begin
  if jsonb_typeof(p_list) <> 'array' then
    return row(null, format('invalid: "$filter" needs a list, not a value of type %s',
      jsonb_typeof(p_list)))::_qwf.resolution;
  end if;
  for v_key, v_operand in select c.key, c.value from jsonb_each(p_conditions) c loop
    v_field := string_to_array((_qwf.filter_operator(v_key))[2], '.');
    v_matches := (_qwf.filter_operator(v_key))[1] = 'matches';
    if v_matches and jsonb_typeof(p_written -> v_key) <> 'string'
      and not _qwf.is_plain_pattern(v_operand #>> '{}')
    then
      return row(null, format('invalid: "$filter" key "%s": a pattern from a reference may have '
        'at most 200 characters and no back reference, look-ahead, look-behind or count in braces',
        v_key))::_qwf.resolution;
    elsif v_matches and not _qwf.is_pattern(v_operand) then
      return row(null, format('invalid: "$filter" key "%s" needs a regular expression',
        v_key))::_qwf.resolution;
    end if;
    select coalesce(jsonb_agg(element.value order by element.position), '[]')
    into v_list
    from jsonb_array_elements(v_list) with ordinality as element (value, position)
    where case
      when v_matches then element.value #>> v_field ~ (v_operand #>> '{}')
      else coalesce(element.value #> v_field, 'null') = v_operand
    end;
  end loop;
  return row(v_list, null)::_qwf.resolution;
end $$;

commit;
