-- Deploy qwf:functions/metrics/_counted_below
-- Purpose: Counts the times of a histogram below edge n of the metrics; all for null.
-- Called by: _histogram_metrics.

begin;

create function _qwf.counted_below(p_counts bigint[], p_edge int) returns bigint
language sql immutable parallel safe
as $$
  select coalesce(sum(c), 0)::bigint
  from unnest(case when p_edge is null then p_counts else p_counts[1 : 6 * p_edge + 1] end) c
$$;

commit;
