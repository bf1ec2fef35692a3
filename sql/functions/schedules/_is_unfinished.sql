-- Deploy qwf:functions/schedules/_is_unfinished
-- Purpose: True when a job or a run has not ended, or a body of the run has not stopped.
-- Guarantees: False for nulls, and for what retention has deleted.
-- Called by: _cancel_last, _check_fire, _fire_schedules, _firing_verdict.

begin;

create function _qwf.is_unfinished(p_job bigint, p_run bigint) returns boolean
language sql stable
as $$
  select exists (select from qwf.jobs j where j.id = p_job and j.finished_at is null)
    or exists (
      select from qwf.runs r
      where r.id = p_run and (r.finished_at is null
        or r.status <> 'completed'
          and exists (select from qwf.jobs j where j.run_id = r.id and j.status = 'running')))
$$;

commit;
