-- Deploy qwf:functions/answers/_take_kept_signal
-- Purpose: Answers an input step that has just begun to wait with the signal that was sent before,
--   if one is kept and fits; returns whether it did.
-- Guarantees: Waits for nobody. A signal that has not committed is not seen: its producer looks for
--   this step, and if it does not see it either, the tick does. In a transaction with an older
--   snapshot the tick looks again.
-- Locks: expects the run of the job locked by the caller.
-- Called by: _open_node.

begin;

create function _qwf.take_kept_signal(p_job bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_wait qwf.waits;
  v_signal qwf.signals;
  v_fits boolean;
begin
  select w.* into v_wait from qwf.waits w where w.job_id = p_job and w.kind = 'signal';
  if not found then
    return false;
  end if;
  select s.* into v_signal
  from qwf.signals s
  where s.project = v_wait.project and s.name = v_wait.name and s.keep_until > qwf.now();
  if found then
    select not exists (select from _qwf.answer_problems(j.input_spec, v_signal.payload))
      into v_fits from qwf.jobs j where j.id = p_job;
    if v_fits then
      perform _qwf.complete_with_signal(array[p_job], v_signal);
      return true;
    end if;
  end if;
  update qwf.waits w set refused = case
    when current_setting('transaction_isolation') <> 'read committed' then -1
    else v_signal.id end
  where w.job_id = p_job and w.kind = 'signal';
  return false;
end $$;

commit;
