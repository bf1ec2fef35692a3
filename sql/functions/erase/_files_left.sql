-- Deploy qwf:functions/erase/_files_left
-- Purpose: Returns jobs with the files that they have left: a row for each file, or one without
--   host and path for a job that has left none.
-- Guarantees: path is absolute, unless the run names a folder of the agent's user (~), or the box
--   has not announced where it writes.
-- Called by: erase.

begin;

create function _qwf.files_left(p_jobs bigint[], p_listed boolean) returns setof qwf.erased_job
language sql stable
as $$
  select j.id, j.run_id, f.host, coalesce(f.path, coalesce(rtrim(f.out_dir, '/') || '/', '')
    || coalesce(f.run_id::text, 'jobs/' || f.job_id) || '/' || f.rel_path)
  from unnest(p_jobs) u (id)
  join qwf.jobs j on j.id = u.id
  left join qwf.file_overview f on f.job_id = j.id and p_listed
  order by j.id, f.file_no
$$;

commit;
