-- Deploy qwf:functions/enqueue/_started_with_key
-- Purpose: Returns the job of a key that has started and has not ended; null: there is none.
-- Guarantees: Reads the index jobs_key. p_scheduled: also counts a job that waits for its next try.
-- Called by: _fits, _insert_job, _key_is_free, _supersede, _why_held, _why_unfit_for, retry_job.

begin;

create function _qwf.started_with_key(
  p_project text, p_task text, p_key text, p_scheduled boolean)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select o.id from qwf.jobs o
    where o.project = p_project and o.task = p_task and o.key = p_key and o.key is not null
      and (o.key_state = 's')
      and (o.status in ('queued', 'running') or p_scheduled and o.status = 'scheduled'));
end $$;

commit;
