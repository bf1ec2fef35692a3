-- Deploy qwf:functions/shared/_did_you_mean
-- Purpose: Suggests the known name that a mistyped name probably means.
-- Guarantees: Null unless half of the letter pairs match one of the names, or the letters are the
--   same in another order. Reads only the first 100 letters, and cuts a name of a megabyte once.
-- Called by: whatever refuses a name.

begin;

create function _qwf.did_you_mean(p_name text, p_names text[]) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('did you mean %s?', candidate.name)
  from (select left(p_name, 1000) as name offset 0) given
  cross join unnest(p_names) candidate (name)
  cross join lateral (
    select count(*) filter (
        where position(substr('^' || left(given.name, 100) || '$', at, 2)
          in '^' || candidate.name || '$') > 0)
      * 2.0 / (length(given.name) + length(candidate.name) + 2) as share
    from generate_series(1, least(length(given.name), 100) + 1) at) pair
  cross join lateral (
    select length(given.name) = length(candidate.name)
      and array(select unnest(string_to_array(left(given.name, 100), null)) order by 1)
        = array(select unnest(string_to_array(candidate.name, null)) order by 1)
      as same_letters) swapped
  where pair.share >= 0.5 or swapped.same_letters
  order by swapped.same_letters desc, pair.share desc, candidate.name
  limit 1
$$;

commit;
