-- Deploy qwf:functions/answers/_take_kept_signal
-- Purpose: Answers an input step that has just begun to wait with the newest kept signal of its
--   name that fits; returns whether there is one.
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
  v_fitting qwf.signals[];
  v_seen bigint[];
begin
  select w.* into v_wait from qwf.waits w where w.job_id = p_job and w.kind = 'signal';
  if not found then
    return false;
  end if;
  with kept as materialized (
    select s as signal from qwf.signals s
    where s.project = v_wait.project and s.name = v_wait.name and s.keep_until > qwf.now()
    order by s.id desc
  )  -- one statement, so that no signal is seen that was not asked
  select
    array(select k.signal from kept k, qwf.jobs j
      where j.id = p_job
        and not exists (select from _qwf.answer_problems(j.input_spec, (k.signal).payload))
      limit 1),
    array(select (k.signal).id from kept k)
    into v_fitting, v_seen;
  if v_fitting <> '{}' then
    perform _qwf.complete_with_signal(array[p_job], v_fitting[1]);
    return true;
  end if;
  update qwf.waits w set refused = case
    when current_setting('transaction_isolation') <> 'read committed' then -1 || v_seen
    else v_seen end
  where w.job_id = p_job and w.kind = 'signal';
  return false;
end $$;

commit;
