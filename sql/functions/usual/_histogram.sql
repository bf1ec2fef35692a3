-- Deploy qwf:functions/usual/_histogram
-- Purpose: Counts times by bucket, each bucket a fifth wider than the one before.
-- Guarantees: Bucket 0 is below a millisecond, 1 starts there, 127 is everything above 110 days.
--   The middle of a bucket is within a tenth of every time in it (see view job_stats). The list
--   ends with the last bucket that is not empty.
-- Called by: _add_totals, _learn_nodes, _learn_runs, _roll_up_counts.

begin;

create function _qwf.histogram(p_seconds real[]) returns bigint[]
language sql immutable parallel safe
as $$
  with filled as (
    select
      width_bucket(ln(greatest(s.seconds, 0.0005)), ln(0.001::float8),
        ln(0.001::float8) + 126 * ln(1.2::float8), 126) as bucket,
      count(*) as count
    from unnest(p_seconds) s (seconds)
    group by 1
  )
  select array_agg(coalesce(f.count, 0) order by b.bucket)
  from generate_series(0, (select max(f.bucket) from filled f)) b (bucket)
  left join filled f on f.bucket = b.bucket
$$;

commit;
