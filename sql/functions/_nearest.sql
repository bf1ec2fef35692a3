-- Deploy qwf:functions/_nearest
-- requires: schema/qwf
-- Purpose: The name most like one that was mistyped.
-- Guarantees: Null unless at least half of the letter pairs agree.
-- Called by: the checks of definitions, for their hints.

begin;

create function qwf._nearest(p_name text, p_names text[]) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select candidate.name
  from unnest(p_names) candidate (name)
  cross join lateral (
    select count(*) filter (where position(substr('^' || p_name || '$', at, 2) in '^' || candidate.name || '$') > 0)
      * 2.0 / (length(p_name) + length(candidate.name) + 2) as share
    from generate_series(1, length(p_name) + 1) at) pair
  where pair.share >= 0.5
  order by pair.share desc, candidate.name
  limit 1
$$;

comment on function qwf._nearest(text, text[]) is
  'Returns the name that shares most letter pairs with a mistyped one; null when none is like it.';
revoke all on function qwf._nearest(text, text[]) from public;

commit;
