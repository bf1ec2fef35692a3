-- Deploy qwf:functions/walks/_peek_above
-- Purpose: Returns the first queued job without a limit that fits a worker, from a floor on or
--   added below it since.
-- Guarantees: Locks nothing. Walks along jobs_claim in the parts of _pick_above.
-- Called by: _head_waited.

begin;

create function _qwf.peek_above(
  p_bands _qwf.band[], p_queue text, p_worker qwf.workers, p_now timestamptz)
returns setof qwf.jobs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_band _qwf.band;
begin
  for v_part in 0 .. 2 * cardinality(p_bands) + 1 loop
    v_band := p_bands[v_part / 2];  -- of parts 0 and 1: null
    if v_part > 0 and v_part % 2 = 0 then
      return query
      select j.* from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
        and j.priority = v_band.priority and j.position < 0 and _qwf.fits(j, p_worker, p_now)
      order by j.position limit 1;
    else
      return query
      select j.* from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = (v_part = 0)
        and (j.priority, j.position) >= (
          coalesce(v_band.priority, -2147483648),
          coalesce(v_band.position, -9223372036854775808))
        and j.priority < case when v_part = 0 then 2147483648
          else coalesce(p_bands[v_part / 2 + 1].priority, 2147483648) end
        and _qwf.fits(j, p_worker, p_now)
      order by j.priority, j.position limit 1;
    end if;
    exit when found;
  end loop;
end $$;

commit;
