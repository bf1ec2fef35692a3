-- Deploy qwf:functions/change/_waiting_job
-- Purpose: Locks a queued or scheduled job so that the caller can change it.
-- Guarantees: Never waits: a job that is being claimed counts as no longer waiting.
-- Locks: the job, if it is free.
-- Raises: QW001 no such job, QW002 it is not waiting.
-- Called by: run_next, change_job.

begin;

create function _qwf.waiting_job(p_job_id bigint) returns qwf.jobs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job qwf.jobs;
  v_status qwf.job_status;
begin
  select j.* into v_job
  from qwf.jobs j
  where j.id = p_job_id and j.status in ('queued', 'scheduled')
  for no key update skip locked;
  if found then
    return v_job;
  end if;
  select j.status into v_status from qwf.jobs j where j.id = p_job_id;
  if not found then
    perform _qwf.raise_no_such_job(p_job_id);
  end if;
  raise exception using errcode = 'QW002', message = 'the job is not waiting in a queue',
    detail = format('job %s is %s', p_job_id,
      case when v_status in ('queued', 'scheduled') then 'being claimed or changed'
        else v_status::text end),
    hint = 'only queued and scheduled jobs can be changed';
end $$;

commit;
