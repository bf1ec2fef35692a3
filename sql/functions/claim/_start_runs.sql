-- Deploy qwf:functions/claim/_start_runs
-- Purpose: Marks runs as started, as jobs of theirs are handed out.
-- Guarantees: The run's state is asked for by started_at, so that no partial index on its status
--   tempts the planner. A run that somebody else has locked is left to its next claim.
-- Locks: runs that have not started, by id, those that are free.
-- Called by: _make_running.

begin;

create function _qwf.start_runs(p_runs bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fresh bigint[];
begin
  v_fresh := array(
    select r.id from qwf.runs r
    where r.id = any (p_runs) and r.started_at is null and r.finished_at is null
    order by r.id
    for no key update skip locked);
  if v_fresh <> '{}' then
    update qwf.runs r set status = 'running', started_at = p_now where r.id = any (v_fresh);
  end if;
end $$;

commit;
