-- Deploy qwf:functions/erase/_erase_signals
-- Purpose: Deletes the kept signals that the erased steps wait for or have taken in an earlier try,
--   or who sent them.
-- Guarantees: A later step of their name waits for a new signal. An earlier try is known for as
--   long as its events are kept.
-- Locks: expects the jobs and their runs locked by the caller; the signals.
-- Called by: erase.

begin;

create function _qwf.erase_signals(p_jobs bigint[], p_parts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_signals bigint[] := array(
    select s.id
    from (
      select j.project, j.input_spec ->> 'signal' as name from qwf.jobs j
      where j.id = any (p_jobs) and j.input_spec ? 'signal'
      union
      select j.project, e.detail ->> 'signal'
      from _qwf.event_log e join qwf.jobs j on j.id = e.job_id
      where e.job_id = any (p_jobs) and e.kind = 'question_answered' and e.detail ? 'signal'
    ) asked
    join qwf.signals s on s.project = asked.project and s.name = asked.name);
begin
  delete from qwf.signals s where 'answers' = any (p_parts) and s.id = any (v_signals);
  update qwf.signals s set acting_for = null
  where 'acting_for' = any (p_parts) and s.id = any (v_signals);
end $$;

commit;
