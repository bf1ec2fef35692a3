-- Deploy qwf:functions/limit_keys/_next_band
-- Purpose: Returns the next band of the line of a queue in which jobs wait; null: there is none.
-- Guarantees: Costs one probe of jobs_keyed. Bands that the session knows are not probed, because
--   while somebody holds a snapshot a probe passes all entries of jobs that have left; only the
--   gaps between them are.
-- Called by: create_limit, _count_queued, _keep_line, _pick_recent, _wake_for_keys,
--   _wake_for_starts, _wake_overlooked, _walk_line, hold_limit.

begin;

create function _qwf.next_band(p_queue text, p_known bigint[], p_after bigint) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after bigint := coalesce(p_after, -9223372036854775808);
  v_known bigint := coalesce(
    (select min(b) from unnest(p_known) b where b > v_after), 9223372036854775807);
begin
  return coalesce((
    select _qwf.band_of(j) from qwf.jobs j
    where _qwf.line_of(j) = p_queue and _qwf.band_of(j) > v_after and _qwf.band_of(j) < v_known
      and j.limit_place is not null and j.status in ('queued', 'running')
    order by _qwf.line_of(j), _qwf.band_of(j) limit 1), nullif(v_known, 9223372036854775807));
end $$;

commit;
