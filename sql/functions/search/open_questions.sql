-- Deploy qwf:functions/search/open_questions
-- Purpose: Returns the open questions of a project, for a front end of its own.
-- Guarantees: Only of the named project, the oldest first, each as run_status() gives it. So a
--   producer sees what it may see by the id of a run, without a list of the jobs of all projects.

begin;

create function qwf.open_questions(project text, max_rows int default 100)
returns table (run_id bigint, workflow text, node_id text, job_id bigint, question jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if open_questions.project is null then
    raise exception using errcode = 'QW005', message = 'no project named',
      detail = 'project is null',
      hint = 'name the project of your runs; an empty text is that of runs without one';
  end if;
  return query
  select f.run_id, f.workflow, f.node_id, f.job_id, _qwf.question(j)
  from qwf.find_inputs(open_questions.project, max_rows => open_questions.max_rows) f
  join qwf.jobs j on j.id = f.job_id
  order by f.since, f.job_id;
end $$;
comment on function qwf.open_questions is
  'Returns the first max_rows open questions of a project, the oldest first; question is as in '
  'run_status. Answer with submit_input(run_id, node_id, value) or answer_job(job_id, value). '
  'QW005 without a project, or for an invalid bound.';
call _qwf.allow('qwf.open_questions', 'qwf_producer', 'qwf_viewer');

commit;
