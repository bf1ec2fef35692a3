-- Deploy qwf:functions/telemetry/suspect_stall
-- Purpose: Records that a body was silent for too long but continued to compute.
-- Guarantees: Writes nothing for a stale token; does not change the job.
-- Called by: agents, when their watchdog saw activity on the card or in memory.

begin;

create function qwf.suspect_stall(job_id bigint, token uuid, readings jsonb) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_json('readings', suspect_stall.readings, 8192);
  if jsonb_typeof(suspect_stall.readings) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid readings',
      detail = coalesce(_qwf.excerpt(suspect_stall.readings), 'null'),
      hint = 'pass a JSON object';
  end if;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select qwf.now(), j.run_id, j.id, 'stall_suspected', jsonb_build_object(
    'attempt', j.attempt, 'worker', j.claimed_by, 'readings', suspect_stall.readings)
  from qwf.jobs j
  where j.id = suspect_stall.job_id and j.token = suspect_stall.token;
  return found;
end $$;
comment on function qwf.suspect_stall is
  'Records the event stall_suspected with what a watchdog measured; false for a stale token. '
  'QW005 for readings that are not an object, or too large.';
call _qwf.allow('qwf.suspect_stall', 'qwf_worker');

commit;
