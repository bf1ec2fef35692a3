-- Deploy qwf:functions/questions/_key_is_free
-- Purpose: True when a job that asks a person can wait again under its key: no newer job of it
--   waits or has started.
-- Guarantees: Waits for producers and claims of that key whose transactions are open. If true, the
--   place of the job that waits is taken until the caller's transaction ends.
-- Locks: the key.
-- Called by: _apply_answer.

begin;

create function _qwf.key_is_free(p_job qwf.jobs) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_job.key_state <> 's' then
    return true;  -- no key, or one that it has kept all the time
  end if;
  update qwf.jobs j set key_state = 'w', status = 'queued' where j.id = p_job.id;
  if _qwf.started_with_key(p_job.project, p_job.task, p_job.key, true) is not null then
    raise unique_violation;
  end if;
  return true;
exception
  when unique_violation then
    return false;
end $$;

commit;
