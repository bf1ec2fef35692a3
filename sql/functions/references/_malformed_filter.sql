-- Deploy qwf:functions/references/_malformed_filter
-- Purpose: What is wrong with the shape of a $filter.
-- Guarantees: Null for a well-formed filter, and for none at all (SQL null).
-- Called by: _malformed.

begin;

create function _qwf.malformed_filter(p_filter jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_filter is null then null
    when jsonb_typeof(p_filter) <> 'object' then '"$filter" is not an object'
    else (
      select format('"$filter" key "%s" is neither "eq:<field>" nor "matches:<field>"', min(k))
      from jsonb_object_keys(p_filter) k
      where _qwf.filter_operator(k) is null
      having count(*) > 0)
  end;
end $$;

commit;
