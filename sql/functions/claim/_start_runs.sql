-- Deploy qwf:functions/claim/_start_runs
-- Purpose: Starts the runs of nodes that were handed out, if they have not started.
-- Guarantees: They are found by started_at: a condition on status would tempt the planner to use a
--   partial index. A run that somebody else has locked is started by its next claim.
-- Locks: runs that have not started, by id, if nobody else has locked them.
-- Called by: _serve_runs, claim.

begin;

create function _qwf.start_runs(p_runs bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update qwf.runs r set status = 'running', started_at = p_now
  where r.id = any (array(
    select b.id from qwf.runs b
    where b.id = any (p_runs) and b.started_at is null and b.finished_at is null
    order by b.id
    for no key update skip locked));
end $$;

commit;
