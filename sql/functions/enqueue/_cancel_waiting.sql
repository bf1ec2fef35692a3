-- Deploy qwf:functions/enqueue/_cancel_waiting
-- Purpose: Cancels a job that is not running, and returns the kind of its event, or null.
-- Guarantees: Never waits: a locked row (most likely one being claimed) is left alone.
-- Locks: the job, if it is free and not running.
-- Called by: cancel_job, _merge_waiting, _settle_cancel_requests.

begin;

create function _qwf.cancel_waiting(p_job_id bigint, p_reason text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_run_id bigint;
  v_was qwf.job_status;
begin
  begin
    update qwf.jobs j set
      status = 'cancelled', finished_at = qwf.now(), last_error = coalesce(p_reason, j.last_error)
    from (
      select f.id, f.status from qwf.jobs f
      where f.id = p_job_id
        and f.status in ('blocked', 'scheduled', 'queued', 'awaiting_input')
      for no key update skip locked
    ) free
    where j.id = free.id
    returning j.run_id, free.status into v_run_id, v_was;
    if not found then
      raise exception using errcode = 'QW002', message = 'not waiting';
    end if;
  exception
    when sqlstate 'QW002' then  -- drops the lock on a row claimed between read and lock
      return null;
  end;
  delete from qwf.waits w where w.job_id = p_job_id;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (qwf.now(), v_run_id, p_job_id, 'cancelled',
    jsonb_build_object('reason', p_reason));
  return case v_was
    when 'blocked' then 'cut' when 'awaiting_input' then 'withdrawn' else 'cancelled' end;
end $$;

commit;
