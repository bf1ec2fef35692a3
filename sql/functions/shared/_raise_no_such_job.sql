-- Deploy qwf:functions/shared/_raise_no_such_job
-- Purpose: Raises QW001 with a hint where jobs are listed.
-- Raises: QW001, always.
-- Called by: whatever takes the id of a job.

begin;

create function _qwf.raise_no_such_job(p_job_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW001', message = 'no such job',
    detail = format('job %s', p_job_id),
    hint = 'ended jobs are deleted after their retention, and completed ones at once on a queue '
      'with keep_completed false; who has the role '
      'qwf_viewer lists jobs: select * from qwf.recent_jobs';
end $$;

commit;
