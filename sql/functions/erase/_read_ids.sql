-- Deploy qwf:functions/erase/_read_ids
-- Purpose: Returns the ids of a filter of erase; null if it has none.
-- Raises: QW005 if the filter is not an object, has labels twice, or ids that are not a list of
--   numbers.
-- Called by: _find_erasable.

begin;

create function _qwf.read_ids(p_filter jsonb) returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_filter) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = coalesce(_qwf.excerpt(p_filter), 'null'),
      hint = 'pass a JSON object such as {"label": {"person": "42"}}';
  elsif p_filter ?& '{label,labels}' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = 'label and labels are the same', hint = 'give one of them';
  elsif jsonb_typeof(coalesce(p_filter -> 'ids', 'null')) = 'null' then
    return null;
  elsif jsonb_typeof(p_filter -> 'ids') <> 'array' or jsonb_array_length(p_filter -> 'ids') = 0
    or exists (
      select from jsonb_array_elements(p_filter -> 'ids') i
      where jsonb_typeof(i) <> 'number' or i::numeric not between 1 and 9223372036854775807
        or i::numeric % 1 <> 0) then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = 'filter.ids: ' || _qwf.excerpt(p_filter -> 'ids'),
      hint = 'ids is a list of ids of jobs, such as [7, 8]';
  end if;
  return array(select i::bigint from jsonb_array_elements(p_filter -> 'ids') i);
end $$;

commit;
