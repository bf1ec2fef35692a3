-- Deploy qwf:functions/read/ended
-- Purpose: Returns those of many jobs and runs that have ended: one call serves all who wait.
-- Guarantees: No row for one that has not ended. A row with a null status for one that is not
--   there: its queue keeps no completed jobs, its retention has passed, or the transaction that
--   enqueued it is still open.
-- Called by: people, programs, jobs.Waiter.

begin;

create function qwf.ended(job_ids bigint[] default '{}', run_ids bigint[] default '{}')
returns setof jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
begin
  if cardinality(ended.job_ids || ended.run_ids) > 10000 then
    raise exception using errcode = 'QW005', message = 'too many jobs and runs',
      detail = format('%s ids, at most 10000', cardinality(ended.job_ids || ended.run_ids)),
      hint = 'call it once for each 10000';
  end if;
  return query
  select jsonb_build_object(
    'job_id', given.id, 'status', j.status, 'attempt', j.attempt, 'worker', j.claimed_by,
    'progress', case when j.status = 'completed' then 1 else p.fraction end,
    'message', p.message, 'output', j.output, 'error', j.last_error)
  from unnest(ended.job_ids) given (id)
  left join qwf.jobs j on j.id = given.id
  left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
  where j.id is null or j.status in ('completed', 'failed', 'cancelled', 'skipped')
  union all
  select jsonb_build_object(
    'run_id', given.id, 'workflow', r.workflow, 'status', r.status, 'error', r.error)
  from unnest(ended.run_ids) given (id)
  left join qwf.runs r on r.id = given.id
  where r.id is null or r.status in ('completed', 'failed', 'cancelled');
end $$;
comment on function qwf.ended is
  'Those of these jobs and runs (at most 10000) that have ended: of a job the same object as '
  'result(); of a run run_id, workflow, status and error. Nothing for one that has not ended; '
  'status is null for one that is not there.';
call _qwf.allow('qwf.ended', 'qwf_producer', 'qwf_viewer');

commit;
