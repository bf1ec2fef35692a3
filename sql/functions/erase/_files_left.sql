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
  select j.id, j.run_id, f.host, case when starts_with(f.out_dir, '/')
      or starts_with(f.out_dir, '~') then rtrim(f.out_dir, '/')
      else concat_ws('/', rtrim(f.out_root, '/'), nullif(btrim(f.out_dir, '/'), '')) end
    || case when f.out_dir is null and f.out_root is null then '' else '/' end
    || case when f.run_id is null then 'jobs/' || f.job_id else f.run_id::text end
    || '/' || f.rel_path
  from unnest(p_jobs) u (id)
  join qwf.jobs j on j.id = u.id
  left join qwf.file_overview f on f.job_id = j.id and p_listed
  order by j.id, f.file_no
$$;

commit;
