-- Deploy qwf:functions/erase/_erase_events
-- Purpose: Overwrites what is personal in the events of jobs and of their runs.
-- Guarantees: Kind, time, number, subject, numbers, and how a run ended stay. Numbering and pruning
--   lock the rows in the same order, by id.
-- Locks: the events, by id; expects the jobs and their runs locked by the caller, and ended.
-- Called by: erase.

begin;

create function _qwf.erase_events(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_events bigint[];
begin
  if not p_parts && '{events,acting_for}' then
    return;
  end if;
  v_events := array(
    select e.id from _qwf.event_log e where e.job_id = any (p_jobs)
    union
    select e.id from _qwf.event_log e where e.run_id = any (_qwf.runs_of_jobs(p_jobs)));
  perform e.id from _qwf.event_log e
  where e.id = any (v_events)
  order by e.id
  for no key update;
  update _qwf.event_log e set
    detail = case when 'events' = any (p_parts) then _qwf.erased_detail(e.detail, p_mark)
      else e.detail end,
    acting_for = case when 'acting_for' = any (p_parts) then null else e.acting_for end
  where e.id = any (v_events);
end $$;

commit;
