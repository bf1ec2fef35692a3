-- Open questions with all that a form needs, for programs and for people.

-- Returns the open questions of a project, for a front end of its own. Only of the named
-- project, the oldest first, each as run_status() gives it. So a producer sees what it may see
-- by the id of a run, without a list of the jobs of all projects.
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

-- Returns the question that a job asks, as a front end needs it to show a form. The keys of the
-- step, resolved, without the error of a failed job, which can be long and stands beside it.
-- options is a list, also where the widget takes them from its source, or null. Times are in
-- UTC, with milliseconds as answer_job compares them.
create function _qwf.question(p_job qwf.jobs) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select ((p_job).input_spec - 'error') || jsonb_build_object(
    'widget', (p_job).input_spec ->> 'widget',
    'prompt', (p_job).input_spec ->> 'prompt',
    'options', case
      when jsonb_typeof((p_job).input_spec -> 'options') = 'array'
        then (p_job).input_spec -> 'options'
      when (p_job).input_spec ->> 'widget' in ('choose_one', 'turnout')
        and jsonb_typeof((p_job).input_spec -> 'source') = 'array'
        then (p_job).input_spec -> 'source' end,
    'since', to_char(coalesce((p_job).queued_at, (p_job).created_at) at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"'),
    'expires_at', case when (p_job).queue is null then to_char(
      (p_job).expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"') end)
$$;

-- Returns a page of the questions that wait for a person. Reads no more questions than it
-- returns, unless a project is named: then also those of other projects that come before. A page
-- goes on after the question of the page before, also if that has been answered. The plan is
-- pinned, because statistics taken when nobody was asked lead to a sort of everything.
create function qwf.find_inputs(
  project text default null, ending boolean default false, after timestamptz default null,
  after_job bigint default null, max_rows int default 100)
returns setof qwf.pending_inputs
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_after timestamptz := coalesce(find_inputs.after, '-infinity');
  v_job bigint := coalesce(find_inputs.after_job, 0);
begin
  if coalesce(find_inputs.max_rows not between 1 and 10000, true) then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('max_rows %s', find_inputs.max_rows), hint = 'give a number from 1 to 10000';
  elsif not _qwf.is_readable_time(find_inputs.after) then
    raise exception using errcode = 'QW005', message = 'invalid time',
      detail = format('after %s', find_inputs.after), hint = 'give a time of the last page';
  end if;
  if find_inputs.ending then
    return query
    select p.* from qwf.pending_inputs p
    where p.expires_at is not null and (p.expires_at, p.job_id) > (v_after, v_job)
      and (find_inputs.project is null or p.project = find_inputs.project)
    order by p.expires_at, p.job_id
    limit find_inputs.max_rows;
  else
    return query
    select p.* from qwf.pending_inputs p
    where (p.since, p.job_id) > (v_after, v_job)
      and (find_inputs.project is null or p.project = find_inputs.project)
    order by p.since, p.job_id
    limit find_inputs.max_rows;
  end if;
end $$;
comment on function qwf.find_inputs is
  'Returns the first max_rows questions of pending_inputs, of a project or of all, the oldest '
  'first; ending: only those that end by themselves, the first to end first. The next page begins '
  'after the since (ending: the expires_at) and the job_id of the last row. QW005 for an invalid '
  'bound or time.';
call _qwf.allow('qwf.find_inputs', 'qwf_viewer');
