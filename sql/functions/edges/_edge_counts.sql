-- Deploy qwf:functions/edges/_edge_counts
-- Purpose: Returns how many times of a histogram are below each of the 17 edges of the metrics:
--   0.001 * 1.2^(6n) seconds, every sixth of _histogram.
-- Called by: what adds up the times of runs, and the table attempt_totals for those of attempts.

begin;

create function _qwf.edge_counts(p_counts bigint[]) returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c bigint[] := p_counts || array_fill(0::bigint, array[97]);
  v_sum bigint := c[1];
  v_edges bigint[] := array[c[1]];
begin
  for at in 2..92 by 6 loop
    v_sum := v_sum + c[at] + c[at + 1] + c[at + 2] + c[at + 3] + c[at + 4] + c[at + 5];
    v_edges := v_edges || v_sum;
  end loop;
  return v_edges;
end $$;

commit;
