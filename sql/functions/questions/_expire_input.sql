-- Deploy qwf:functions/questions/_expire_input
-- Purpose: Ends one overdue question: with its default, or as failed.
-- Guarantees: Reads the job again under the lock: an answer that came first wins.
-- Locks: expects the run locked by the caller.
-- Called by: _expire_inputs.

begin;

create function _qwf.expire_input(p_job bigint, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j
  where j.id = p_job and j.status = 'awaiting_input' and j.expires_at <= p_now;
  if not found then
    return 0;
  end if;
  insert into qwf.job_events (at, run_id, job_id, type, actor, detail)
  values (p_now, v_job.run_id, v_job.id, 'expired', _qwf.actor(),
    jsonb_build_object('asked_at', v_job.queued_at, 'expires', v_job.input_spec -> 'expires'));
  if v_job.input_spec ? 'default' then
    perform _qwf.apply_answer(v_job, v_job.input_spec -> 'default', 'expiry');
  else
    update qwf.jobs j set
      status = 'failed', finished_at = p_now,
      last_error = format('nobody answered within %s', j.input_spec ->> 'expires')
    where j.id = v_job.id;
    perform _qwf.apply_events(
      _qwf.take_events(array[v_job.run_id])
      || array[(v_job.run_id, v_job.id, 'aborted')::_qwf.event]);
  end if;
  return 1;
end $$;

commit;
