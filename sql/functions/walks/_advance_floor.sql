-- Deploy qwf:functions/walks/_advance_floor
-- Purpose: Moves the floor of a worker up to where its claims have come, so that its next claim
--   does not pass what was claimed before.
-- Guarantees: Moves it to where they had come when it was last moved: so it passes no job that was
--   about to commit then and has committed since. Learns priorities from the jobs, 16 at most: dead
--   entries do not show theirs. p_end: the last position given out before a walk that took all
--   jobs. Leaves the bases and the end of the floor as they are.
-- Called by: _pick_above.

begin;

create function _qwf.advance_floor(
  p_key text, p_floor _qwf.floor, p_jobs _qwf.picked[], p_end bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor _qwf.floor := p_floor;
begin
  v_floor.bands := array(
    select (k.priority, max(k.position), max(k.base), greatest(max(k.passed), p_end))::_qwf.band
    from (
      select b.priority, greatest(b.position, b.passed), b.base, b.passed
      from unnest(p_floor.bands) b
      union all
      select j.priority, 0, null, j.position
      from unnest(p_jobs) p
      cross join lateral (
        select j.priority, j.position, j.run_next from qwf.jobs j where j.ctid = p.row offset 0) j
      where not j.run_next
    ) k (priority, "position", base, passed)
    group by k.priority
    order by k.priority
    limit 16);
  perform _qwf.store_floor(p_key, v_floor, qwf.now());
end $$;

commit;
