-- Deploy qwf:functions/erase/_erase_signals
-- Purpose: Deletes the kept signals that the erased steps have waited for, or who sent them.
-- Guarantees: A later step of their name waits for a new signal.
-- Locks: expects the jobs and their runs locked by the caller; the signals.
-- Called by: erase.

begin;

create function _qwf.erase_signals(p_jobs bigint[], p_parts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_jobs bigint[] := array(
    select j.id from qwf.jobs j where j.id = any (p_jobs) and j.input_spec ? 'signal');
begin
  delete from qwf.signals s
  using qwf.jobs j
  where 'answers' = any (p_parts) and j.id = any (v_jobs) and s.project = j.project
    and s.name = j.input_spec ->> 'signal';
  update qwf.signals s set acting_for = null
  from qwf.jobs j
  where 'acting_for' = any (p_parts) and j.id = any (v_jobs) and s.project = j.project
    and s.name = j.input_spec ->> 'signal';
end $$;

commit;
