-- Deploy qwf:functions/read/result
-- Purpose: Returns the status, progress, output and error of a job.

begin;

create function qwf.result(job_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_result jsonb;
begin
  select jsonb_build_object(
      'job_id', j.id, 'status', j.status, 'attempt', j.attempt, 'worker', j.claimed_by,
      'progress', case when j.status = 'completed' then 1 else p.fraction end,
      'message', p.message, 'output', j.output, 'error', j.last_error)
    into v_result
  from qwf.jobs j
  left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
  where j.id = result.job_id;
  if v_result is null then
    perform _qwf.raise_no_such_job(result.job_id);
  end if;
  return v_result;
end $$;
comment on function qwf.result is
  'Status, attempt, worker, progress (0 to 1; 1 when completed) with its message, output and error '
  'of a job; QW001: no such job.';
call _qwf.allow('qwf.result', 'qwf_producer', 'qwf_viewer');

commit;
