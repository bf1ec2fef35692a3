-- Deploy qwf:functions/telemetry/report_folder
-- Purpose: Records that the folder of a job held the files of another, and where they are now.
-- Guarantees: Writes nothing for a token that is not of this job; does not change the job. The
--   attempt may have ended already, as a short body ends before its worker has said this.

begin;

create function qwf.report_folder(job_id bigint, token uuid, folder jsonb) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_json('folder', report_folder.folder, 16384);
  if jsonb_typeof(report_folder.folder) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid folder',
      detail = coalesce(_qwf.excerpt(report_folder.folder), 'null'),
      hint = 'pass a JSON object, such as {"moved_to": "/out/jobs/15.before-20261124"}';
  end if;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select qwf.now(), j.run_id, j.id, 'folder_moved',
    jsonb_build_object('worker', j.claimed_by) || report_folder.folder
  from qwf.jobs j
  where j.id = report_folder.job_id and (j.token = report_folder.token or exists (
    select from qwf.job_attempts a where a.job_id = j.id and a.token = report_folder.token));
  return found;
end $$;
comment on function qwf.report_folder is
  'Records the event folder_moved: the folder of the job held files of another one, which were '
  'moved aside. False for a token that is not of this job. QW005 for a folder that is not an '
  'object, or too large.';
call _qwf.allow('qwf.report_folder', 'qwf_worker');

commit;
