-- Jobs that lack options their functions require.

create type qwf.missing_option as (
  kind text, name text, task text, option text, declared text, says text, hint text);
comment on type qwf.missing_option is
  'An option that the code of a task declares, and that something enqueued without Python lacks. '
  'kind: job, schedule or node. name: the id of the job, the name of the schedule, or workflow and '
  'node, as in sign_up mail/send. says: the same as a sentence; hint: where to give the option.';

create type _qwf.given_options as (
  kind text, name text, task text, queue text, options jsonb, possible text[]);
comment on type _qwf.given_options is
  'The options that a job, a schedule or a node was given, for find_missing_options; possible: '
  'those that it could have been given, null: all.';

-- Finds jobs, schedules and nodes without an option that the code of their task declares. Such
-- an option counts only for jobs that Python enqueues. Only a look: what has been enqueued keeps
-- its options. Each task has the options that the newest worker with this task announced.
-- Without an argument it looks at all enabled schedules, all current workflows and the newest
-- 1,000 jobs; else at what is named, however many others there are.
create function qwf.find_missing_options(
  job_id bigint default null, schedule text default null, workflow text default null)
returns setof qwf.missing_option
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with announced (task, options) as (
    select distinct on (t.name) t.name, w.task_options -> t.name
    from qwf.workers w
    cross join lateral unnest(w.tasks) t (name)
    order by t.name, w.started_at desc, w.id
  )
  select distinct g.kind, g.name, g.task, o.key, o.value, format('task %L declares %s %s in its '
      'code, which counts only for jobs from Python', g.task, o.key, o.value),
    _qwf.option_advice(g.kind, o.key, o.value)
  from announced a
  join _qwf.given_options(
    find_missing_options.job_id, find_missing_options.schedule,
    find_missing_options.workflow) g on g.task = a.task
  cross join lateral jsonb_each_text(a.options) o
  where not g.options ? o.key
    and (g.possible is null or o.key = any (g.possible))
    and not (o.key = 'queue' and o.value = g.queue)
  order by 1, 2, 4;
end $$;
comment on function qwf.find_missing_options is
  'Finds what lacks an option that the code of its task declares: the named job, schedule or '
  'workflow; without an argument every enabled schedule, every current workflow and the jobs that '
  'have not ended among the newest 1,000. Options of @app.task count only for jobs from Python.';
call _qwf.allow('qwf.find_missing_options', 'qwf_viewer');

-- Says where to give an option to a job, a schedule or a node that lacks it. Quotes for the
-- shell, SQL and YAML. Never fails because of what a worker announced.
create function _qwf.option_advice(p_kind text, p_option text, p_declared text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain boolean := p_option in (
    'max_attempts', 'max_losses', 'vram_mb', 'priority', 'light', 'at_most_once');
  v_node text := p_option || ': ' || case
    when v_plain or p_option in ('backoff', 'labels', 'requires') then p_declared
    else to_json(p_declared)::text end;
  v_words text := format('--%s %s', replace(p_option, '_', '-'), _qwf.shell_quoted(p_declared));
begin
  if p_option in ('max_attempts', 'max_losses', 'backoff') then
    v_node := format('retry: {%s}', v_node);
  elsif p_option in ('light', 'at_most_once') then
    v_words := '--' || replace(p_option, '_', '-');
  elsif p_option in ('labels', 'requires') then
    begin
      select string_agg(format('--%s %s', rtrim(p_option, case p_option when 'labels' then 's'
          else '' end), _qwf.shell_quoted(l.key || '=' || l.value)), ' ')
      into v_words
      from jsonb_each_text(p_declared::jsonb) l;
    exception when invalid_text_representation or invalid_parameter_value then
      null;  -- it is no JSON object: as it was announced
    end;
  end if;
  return case
    when p_kind = 'node' then format('give %s in the node', v_node)
    when p_kind = 'job' then format('give %s, or %s => %s in SQL', v_words, p_option,
      case when v_plain then p_declared else quote_literal(p_declared) end)
    when p_option in ('queue', 'priority', 'project') then 'give ' || v_words
    else 'give --options ' || _qwf.shell_quoted(format('{"%s": %s}', p_option, case
      when v_plain or p_option in ('backoff', 'labels', 'requires') then p_declared
      else to_json(p_declared)::text end))
  end;
end $$;

-- Returns a text as a shell takes it as one word.
create function _qwf.shell_quoted(p_text text) returns text
language sql immutable parallel safe
as $$
  select case when p_text ~ '^[A-Za-z0-9_@%+=:,./-]+$' then p_text
    else '''' || replace(p_text, '''', '''"''"''') || '''' end
$$;

-- Returns the options that jobs, schedules and nodes were given, without those that have their
-- defaults. Of one job, one schedule or one workflow; or of all enabled schedules, all current
-- workflows and the standalone jobs that have not ended among the newest 1,000 jobs. Jobs of a
-- schedule and of a run are left out: theirs come from the schedule and the node. A node without
-- a queue has queue cpu, so it counts as not given. The plan is pinned: however many jobs wait
-- and however old the statistics are, it reads the newest 1,000.
create function _qwf.given_options(p_job bigint, p_schedule text, p_workflow text)
returns setof _qwf.given_options
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_all boolean := num_nonnulls(p_job, p_schedule, p_workflow) = 0;
begin
  return query
  select 'job', j.id::text, j.task, j.queue, jsonb_strip_nulls(jsonb_build_object(
      'queue', nullif(j.queue, 'default'), 'priority', nullif(j.priority, 100),
      'project', nullif(j.project, ''), 'max_attempts', (j.options).max_attempts,
      'max_losses', (j.options).max_losses, 'backoff', (j.options).backoff,
      'timeout', (j.options).timeout, 'labels', nullif(j.labels, '{}'), 'model', j.required_model,
      'light', nullif(j.light, false), 'vram_mb', j.vram_mb, 'requires', nullif(j.requires, '{}'),
      'limit_by', j.limit_by, 'on_failure', nullif(j.on_failure, 'fail'),
      'expires', j.expires_at, 'at_most_once', nullif(j.begun is not null, false))), null::text[]
  from (
    (select k.* from qwf.jobs k where v_all order by k.id desc limit 1000)
    union all
    select k.* from qwf.jobs k where k.id = p_job
  ) j
  where j.run_id is null and j.schedule is null and j.status in ('scheduled', 'queued', 'running');
  return query
  select 'schedule', s.name, s.task, s.queue, jsonb_strip_nulls(jsonb_build_object(
      'queue', nullif(s.queue, 'default'), 'priority', nullif(s.priority, 100),
      'project', nullif(s.project, '')) || s.options), null::text[]
  from qwf.schedules s
  where s.task is not null and (v_all and s.enabled or s.name = p_schedule);
  return query
  select 'node', w.name || ' ' || n.node_id, n.task, n.queue,
    jsonb_strip_nulls(jsonb_build_object(
      'queue', nullif(n.queue, 'cpu'), 'max_attempts', (n.options).max_attempts,
      'max_losses', (n.options).max_losses, 'backoff', (n.options).backoff,
      'timeout', (n.options).timeout, 'model', n.required_model, 'light', nullif(n.light, false),
      'vram_mb', n.vram_mb, 'requires', nullif(n.requires, '{}'), 'limit_by', n.limit_by,
      'on_failure', nullif(n.on_failure, 'fail'),
      'at_most_once', nullif(n.at_most_once, false))),
    ('{queue,max_attempts,max_losses,backoff,timeout,model,light,vram_mb,requires,limit_by,'
      'on_failure,at_most_once}')::text[]
  from qwf.workflows w
  join qwf.graphs g on g.workflow_id = w.id and g.pipeline_ids = array(
    select p.id from qwf.pipelines p where p.name = any (w.pipeline_names) and p.current
    order by p.name collate "C")
  join qwf.graph_nodes n on n.graph_id = g.id
  where w.current and n.queue is not null and (v_all or w.name = p_workflow);
end $$;
