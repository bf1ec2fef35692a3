-- Deploy qwf:functions/runs/_limits_above
-- Purpose: Returns the limits of which a place is held while a run goes on: its own, and those of
--   the steps and runs above it.
-- Called by: _check_change, _check_mending.

begin;

create function _qwf.limits_above(p_run_id bigint) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive above (run_id, limit_by) as (
    select p_run_id, null::text
    union all
    select j.run_id, j.limit_by
    from above a join qwf.runs r on r.id = a.run_id join qwf.jobs j on j.id = r.parent_id
  )
  select coalesce(array_agg(a.limit_by) filter (where a.limit_by is not null), '{}') from above a
$$;

commit;
