-- Deploy qwf:functions/schedules/_succeeded_at
-- Purpose: Returns when a job or a run has completed.
-- Guarantees: Null for one that has not, for nulls, and for what is deleted.
-- Called by: _fire_due, fire_schedule.

begin;

create function _qwf.succeeded_at(p_job bigint, p_run bigint) returns timestamptz
language sql stable
as $$
  select coalesce(
    (select j.finished_at from qwf.jobs j where j.id = p_job and j.status = 'completed'),
    (select r.finished_at from qwf.runs r where r.id = p_run and r.status = 'completed'))
$$;

commit;
