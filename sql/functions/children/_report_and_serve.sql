-- Deploy qwf:functions/children/_report_and_serve
-- Purpose: Does what follows for other runs: reports runs that are over to their steps, and starts
--   runs that may start.
-- Guarantees: The only call from a room to a later one: a run is a job of the run above it, so what
--   ends a run ends an attempt, and what queues a job may start a run. Returns true if something
--   that follows waits in the outbox, because somebody has locked the run above.
-- Locks: as _report_runs and _serve_runs.
-- Called by: _apply_events.

begin;

create function _qwf.report_and_serve(p_over bigint[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waits boolean := p_over is not null and _qwf.report_runs(p_over);
begin
  if current_setting('qwf.runs_due', true) <> '' then
    perform _qwf.serve_runs(500);
  end if;
  return v_waits;
end $$;

commit;
