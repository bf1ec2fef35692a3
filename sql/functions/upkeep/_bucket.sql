-- Deploy qwf:functions/upkeep/_bucket
-- Purpose: The bucket of a histogram that a time falls into: each is a fifth wider than the one
--   before.
-- Guarantees: 0 is below a millisecond, 1 begins there, 127 is everything above 110 days. The
--   middle of a bucket is within a tenth of all that is in it, see the view job_stats. Inlined.
-- Called by: _histogram.

begin;

create function _qwf.bucket(p_seconds real) returns int
language sql immutable parallel safe
as $$
  select width_bucket(ln(greatest(p_seconds, 0.0005)), ln(0.001::float8),
    ln(0.001::float8) + 126 * ln(1.2::float8), 126)
$$;

commit;
