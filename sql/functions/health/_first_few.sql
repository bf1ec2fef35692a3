-- Deploy qwf:functions/health/_first_few
-- Purpose: Returns the first five findings of a kind, and how many more there are.
-- Called by: checks of doctor.

begin;

create function _qwf.first_few(p_found _qwf.finding[]) returns setof _qwf.finding
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select f.* from unnest(p_found[:5]) f;
  if cardinality(p_found) > 5 then
    return query select (p_found[1]).level, null, format('and %s more of that kind',
      cardinality(p_found) - 5), null;
  end if;
end $$;

commit;
