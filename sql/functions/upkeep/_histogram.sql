-- Deploy qwf:functions/upkeep/_histogram
-- Purpose: Counts times by bucket.
-- Guarantees: No element for buckets above the last that has one.
-- Called by: _roll_up_counts.

begin;

create function _qwf.histogram(p_seconds real[]) returns bigint[]
language sql immutable parallel safe
as $$
  with filled as (
    select _qwf.bucket(s.seconds) as bucket, count(*) as count
    from unnest(p_seconds) s (seconds)
    group by 1
  )
  select array_agg(coalesce(f.count, 0) order by b.bucket)
  from generate_series(0, (select max(f.bucket) from filled f)) b (bucket)
  left join filled f on f.bucket = b.bucket
$$;

commit;
