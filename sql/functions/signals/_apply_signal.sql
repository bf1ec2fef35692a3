-- Deploy qwf:functions/signals/_apply_signal
-- Purpose: Completes steps with a signal, and applies what follows to their runs.
-- Locks: expects the runs of the jobs locked by the caller.
-- Notifies: sleepers of the queues that got work.
-- Called by: _serve_signal.

begin;

create function _qwf.apply_signal(p_jobs bigint[], p_signal qwf.signals) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_answered _qwf.event[];
  v_runs bigint[];
begin
  select array_agg((j.run_id, j.id, 'answered')::_qwf.event order by j.id),
    array_agg(distinct j.run_id)
    into v_answered, v_runs
  from qwf.jobs j where j.id = any (p_jobs);
  if v_runs is not null then
    perform _qwf.complete_with_signal(p_jobs, p_signal);
    perform _qwf.apply_events(_qwf.take_events(v_runs) || v_answered);
  end if;
end $$;

commit;
