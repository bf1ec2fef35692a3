-- Deploy qwf:functions/usual/_quantiles
-- Purpose: Returns the seconds that half, nine of ten and 19 of 20 of the times of a histogram stay
--   below.
-- Guarantees: Each is the middle of the bucket that holds it, so within a tenth (see _histogram),
--   and at most the longest time. Null for an empty histogram.
-- Called by: _merge_usual.

begin;

create function _qwf.quantiles(p_counts bigint[], p_longest real) returns real[]
language sql immutable parallel safe
as $$
  select array[
    min(b.seconds) filter (where b.seen >= 0.5 * b.total),
    min(b.seconds) filter (where b.seen >= 0.9 * b.total),
    min(b.seconds) filter (where b.seen >= 0.95 * b.total)]::real[]
  from (
    select least(1.2::float8 ^ (c.n - 1.5) / 1000, p_longest) as seconds,
      sum(c.count) over (order by c.n) as seen, sum(c.count) over () as total
    from unnest(p_counts) with ordinality c (count, n)) b
  where b.total > 0
$$;

commit;
