-- Deploy qwf:functions/metrics/_edge_counts
-- Purpose: Returns how many times of a histogram are below each of the 17 edges of the metrics:
--   0.001 * 1.2^(6n) seconds, every sixth of _histogram.
-- Called by: _histogram_metrics.

begin;

create function _qwf.edge_counts(p_counts bigint[]) returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_edges bigint[] := '{}';
  v_sum bigint := 0;
  v_place int := 0;
  v_count bigint;
begin
  foreach v_count in array p_counts loop
    v_sum := v_sum + v_count;
    if v_place % 6 = 0 then
      v_edges := v_edges || v_sum;
    end if;
    v_place := v_place + 1;
    exit when v_place > 96;
  end loop;
  return v_edges || array_fill(v_sum, array[17 - cardinality(v_edges)]);
end $$;

commit;
