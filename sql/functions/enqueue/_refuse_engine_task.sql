-- Deploy qwf:functions/enqueue/_refuse_engine_task
-- Purpose: Refuses a task of the engine.
-- Raises: QW007, always.
-- Called by: _check_job.

begin;

create function _qwf.refuse_engine_task(p_where text, p_task text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW007', message = 'reserved task',
    detail = format('%stask %L', p_where, left(p_task, 200)),
    hint = 'names that begin with qwf. belong to the engine; qwf.send is for alerts and schedules';
end $$;

commit;
