-- Deploy qwf:functions/schedules/_cancel_last
-- Purpose: Cancels the last job or run of a schedule with overlap replace. True when it has ended.
-- Guarantees: Waits for nobody. False while a body stops, clean-up nodes run, or somebody else has
--   the run locked: the schedule stays due, and the next tick asks again. One that ends of itself
--   meanwhile keeps its own end.
-- Locks: the run if it is free; then as cancel_run and cancel_job.
-- Notifies: workers that run it.
-- Called by: _firing_verdict.

begin;

create function _qwf.cancel_last(p_schedule qwf.schedules) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := 'replaced by schedule ' || p_schedule.name;
begin
  if p_schedule.last_run_id is not null then
    perform from qwf.runs r
    where r.id = p_schedule.last_run_id and r.finished_at is null
    for no key update skip locked;
    if found then
      perform qwf.cancel_run(p_schedule.last_run_id, v_reason);
    end if;
  else
    perform qwf.cancel_job(p_schedule.last_job_id, v_reason);
  end if;
  return not _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id);
exception
  when sqlstate 'QW001' or sqlstate 'QW002' then  -- it has ended, and may be deleted
    return not _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id);
end $$;

commit;
