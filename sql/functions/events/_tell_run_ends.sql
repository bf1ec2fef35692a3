-- Deploy qwf:functions/events/_tell_run_ends
-- Purpose: Writes the events of runs that have just ended by themselves, and returns those of them
--   that are reported to a job: a step of the run above, or their place in line.
-- Guarantees: A statement of its own, so that what opens the next node of a run does not start it.
-- Called by: _advance_runs.

begin;

create function _qwf.tell_run_ends(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reported bigint[];
begin
  with ended as (
    select r.id, r.workflow, r.status, r.started_at, r.finished_at, r.error, r.parent_id
    from qwf.runs r where r.id = any (p_runs)
  ), told as (
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select e.finished_at, e.id, _qwf.end_kind(e.status, e.parent_id), e.workflow,
      _qwf.run_ended(e.status, e.started_at, e.finished_at, e.error, e.parent_id)
        || _qwf.not_taken_back(e.id, e.status)
    from ended e
  )
  select array_agg(e.id) filter (where e.parent_id is not null) into v_reported from ended e;
  return v_reported;
end $$;

commit;
