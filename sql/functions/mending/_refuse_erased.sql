-- Deploy qwf:functions/mending/_refuse_erased
-- Purpose: Refuses to run erased jobs again: what they would be given is gone.
-- Locks: expects the jobs or their run locked by the caller; erase holds the same locks.
-- Raises: QW002.
-- Called by: _check_retry, retry_job.

begin;

create function _qwf.refuse_erased(p_jobs bigint[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j
  where j.id = any (p_jobs) and j.erased_parts is not null
  order by j.id limit 1;
  if found then
    raise exception using errcode = 'QW002', message = 'erased',
      detail = format('job %s, erased: %s', v_job.id, array_to_string(v_job.erased_parts, ', ')),
      hint = 'its arguments are gone: enqueue a new one';
  end if;
end $$;

commit;
