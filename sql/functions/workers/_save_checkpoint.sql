-- Deploy qwf:functions/workers/_save_checkpoint
-- Purpose: Keeps the checkpoint of a running attempt; returns false if the job is not the worker's
--   any more.
-- Guarantees: The token decides under the lock of the job: who takes the job away waits for this
--   transaction or comes first, so the next attempt gets what was saved, and an old worker never
--   overwrites it.
-- Locks: the job; waits for whoever has locked it, since a report that is left out would be lost.
-- Raises: QW005 for a value that is not an object, or too large.
-- Called by: progress.

begin;

create function _qwf.save_checkpoint(p_job bigint, p_token uuid, p_value jsonb) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt int;
begin
  if jsonb_typeof(p_value) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid checkpoint',
      detail = 'checkpoint: ' || jsonb_typeof(p_value), hint = 'pass a JSON object';
  end if;
  perform _qwf.check_json('checkpoint', p_value, s.max_value_bytes) from qwf.settings s;
  select j.attempt into v_attempt
  from qwf.jobs j
  where j.id = p_job and j.token = p_token
  for no key update;
  if not found then
    return false;
  end if;
  insert into qwf.checkpoints as c (job_id, attempt, value, at)
  values (p_job, v_attempt, p_value, qwf.now())
  on conflict (job_id) do update set
    attempt = excluded.attempt, value = excluded.value, at = excluded.at;
  return true;
end $$;

commit;
