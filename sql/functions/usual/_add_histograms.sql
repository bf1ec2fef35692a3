-- Deploy qwf:functions/usual/_add_histograms
-- Purpose: Adds two histograms.
-- Called by: _add_totals, _merge_usual, _roll_up_counts.

begin;

create function _qwf.add_histograms(p_one bigint[], p_other bigint[]) returns bigint[]
language sql immutable parallel safe
as $$
  select array_agg(coalesce(b.one, 0) + coalesce(b.other, 0) order by b.n)
  from unnest(p_one, p_other) with ordinality b (one, other, n)
$$;

commit;
