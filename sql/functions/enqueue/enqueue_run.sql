-- A run enqueued: it starts at once, or lines up behind its limit or key. Locks: its limit,
-- against being dropped.

-- Enqueues a run of a workflow in the caller's transaction. The run and all its nodes exist
-- exactly when that transaction commits, with the definitions of this moment. If the key is
-- taken, returns the run that holds it, and a notice says so if that run has another context.
-- Touches no shared row but a limit that it names. With limit_by, max_attempts or backoff the
-- run waits in line as a job of the engine does: it has nodes when it starts.
-- Locks: limit_by, against being dropped.
-- Notifies: sleepers of the queues of the first nodes.
create function qwf.enqueue_run(
  workflow text, context jsonb default '{}', priority int default 100,
  run_at timestamptz default null, key text default null, out_dir text default null,
  project text default '', labels jsonb default '{}', once boolean default false,
  limit_by text default null, max_attempts int default null, backoff jsonb default null,
  notify text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_graph bigint;
  v_context jsonb;
  v_id bigint;
  v_other boolean;
begin
  enqueue_run.labels := _qwf.with_notify(enqueue_run.labels, enqueue_run.notify);
  perform _qwf.lock_limits(enqueue_run.limit_by), _qwf.check_text('workflow', enqueue_run.workflow);
  perform _qwf.check_run(enqueue_run.context, enqueue_run.run_at, enqueue_run.key,
    enqueue_run.once, enqueue_run.out_dir, enqueue_run.project, enqueue_run.labels,
    enqueue_run.limit_by, enqueue_run.max_attempts, enqueue_run.backoff);
  v_graph := _qwf.graph_for(enqueue_run.workflow);
  perform _qwf.check_limits(v_graph, array_remove(array[enqueue_run.limit_by], null));
  v_context := (select _qwf.with_defaults(enqueue_run.context, g.inputs)
    from qwf.graphs g where g.id = v_graph);
  perform _qwf.raise_problems('QW005', 'the context does not fit the workflow',
    array(select p from _qwf.context_problems(v_graph, v_context) p));
  loop
    insert into qwf.runs as r (
      graph_id, workflow, workflow_version, status, project, key, once, priority, context, labels,
      out_dir, node_count, open_nodes, active_nodes, run_at, deadline_at, created_at, started_at,
      finished_at)
    select
      g.id, w.name, w.version,
      case when g.node_count = 0 then 'completed' else 'queued' end::qwf.run_status,
      coalesce(enqueue_run.project, ''), enqueue_run.key, coalesce(enqueue_run.once, false),
      coalesce(enqueue_run.priority, 100), v_context, coalesce(enqueue_run.labels, '{}'),
      enqueue_run.out_dir, g.node_count, g.node_count - g.compensation_count,
      (select count(*) from qwf.graph_nodes n where n.graph_id = g.id and n.dep_count = 0),
      enqueue_run.run_at, greatest(enqueue_run.run_at, v_now) + g.deadline, v_now,
      case when g.node_count = 0 then v_now end, case when g.node_count = 0 then v_now end
    from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
    where g.id = v_graph
    on conflict (project, workflow, key)
      where key is not null and (once or status in ('queued', 'running', 'awaiting_input'))
      do nothing
    returning r.id into v_id;
    exit when v_id is not null;
    select r.id, r.context <> v_context into v_id, v_other  -- from the index runs_key
    from qwf.runs r
    where r.project = coalesce(enqueue_run.project, '')
      and r.workflow = split_part(enqueue_run.workflow, '@', 1)
      and r.key = enqueue_run.key and r.key is not null
      and (r.once or r.status in ('queued', 'running', 'awaiting_input'));
    if found then
      if v_other then
        raise notice using
          message = format('merged into run %s, your context was not used', v_id),
          hint = 'that run has the same key and another context: use another key for other work';
      end if;
      return v_id;
    end if;  -- else that run ended between the two statements: the key is free, insert again
  end loop;
  perform _qwf.line_up(
    v_id, enqueue_run.limit_by, enqueue_run.max_attempts, enqueue_run.backoff, v_now);
  return v_id;
end $$;
comment on function qwf.enqueue_run is
  'Enqueues a run of a workflow (name or name@version) and returns its id, or the id of the run '
  'that holds the key; a notice says so if that run has another context. QW001, QW003 or QW005 say '
  'what is wrong. out_dir has no .. in it. limit_by: it is queued until the limit has room, so '
  'with create_limit(''etl'', 1) runs go one after the other. max_attempts and backoff: a run that '
  'fails is tried again so often, from the nodes that failed. notify: the receiver of that name is '
  'told when it ends or asks a person.';
call _qwf.allow('qwf.enqueue_run', 'qwf_producer');

-- Refuses a run with an argument that could not be stored, or that no agent could use. Looks at
-- everything except the workflow and whether the context fits it.
-- Raises: QW005; QW001 for an unknown limit.
create function _qwf.check_run(
  p_context jsonb, p_run_at timestamptz, p_key text, p_once boolean, p_out_dir text,
  p_project text, p_labels jsonb, p_limit_by text, p_max_attempts int, p_backoff jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := case
    when jsonb_typeof(p_context) is distinct from 'object'
      then format('context: a JSON object, not %s', coalesce(jsonb_typeof(p_context), 'null'))
    when jsonb_typeof(p_labels) <> 'object' then 'labels: a JSON object'
    when _qwf.engine_label(p_labels) is not null
      then 'labels: names that begin with qwf. are the engine''s own: '
        || _qwf.engine_label(p_labels)
    when not _qwf.is_readable_time(p_run_at) then 'run_at: within the years 1 to 9999, or infinity'
    when p_key = '' then 'key: not empty; leave it out, or give null, for a run without a key'
    when p_once and p_key is null
      then 'once: needs a key, because it keeps the key taken after the run has ended'
    when octet_length(p_key) > 500 then 'key: at most 500 bytes; use a digest of a longer one'
    when octet_length(p_project) > 500 then 'project: at most 500 bytes'
    when octet_length(p_out_dir) > 4096 then 'out_dir: at most 4096 bytes'
    when p_out_dir ~ '[[:cntrl:]]' then 'out_dir: no control characters'
    when p_out_dir ~ '(^|/)[.][.](/|$)' then 'out_dir: no .. in the path'
    when p_out_dir !~ '^[/~]' and p_out_dir ~ '^([.]?/)*jobs(/|$)|(^|/)[0-9]+(/|$)'
      then 'out_dir: a relative one does not begin with jobs, and has no number as name of a '
        'folder, because folders of jobs and runs have these names; write day-2026'
    when p_max_attempts not between 1 and 10000 then 'max_attempts: 1 to 10000'
    when p_backoff is not null and _qwf.backoff_seconds(p_backoff, 1) is null
      then 'backoff: a list of seconds such as [1, 5, 30], or {"base": 1, "factor": 2, '
        '"max": 600}, of at most 4 KiB; not ' || _qwf.excerpt(p_backoff, 100)
  end;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid run', detail = v_problem,
      hint = 'correct the value and enqueue again; nothing was written; '
        'for example: select qwf.enqueue_run(''greet'', context => ''{"who": "Ada"}'')';
  end if;
  if p_limit_by is not null then
    perform _qwf.check_limit('', p_limit_by);
  end if;
  perform _qwf.check_json('context', p_context, s.max_value_bytes),
    _qwf.check_json('labels', p_labels)
  from qwf.settings s;
end $$;

-- Returns what is wrong with the context of a run, as far as the context alone can show it. A
-- context that does not fit the inputs of the workflow is a problem. A path that some reference
-- needs and the context does not have is a problem, and so is a step input that does not fit its
-- schema. What is read only if a skip_if is not true is not checked if the skip_if is true, or
-- depends on more than the context. Suggests names for the first five problems only, because
-- each suggestion reads all nodes. Stops after 20 problems, and says so. Never raises.
create function _qwf.context_problems(p_graph bigint, p_context jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope constant jsonb := jsonb_build_object('$context', p_context);
  v_check jsonb;
  v_skip _qwf.resolution;
  v_path text[];
  v_error text;
  v_found int := 0;
begin
  return query
    select p.*
    from qwf.graphs g cross join lateral _qwf.schema_problems(p_context, g.inputs, 'context') p
    where g.id = p_graph and g.inputs is not null
    limit 20;
  for v_check in
    select c from qwf.graphs g cross join lateral jsonb_array_elements(g.context_checks) c
    where g.id = p_graph and not c ? 'later'
  loop
    v_error := null;
    if v_check ? 'value' then
      v_error := (_qwf.resolve(v_check -> 'value', v_scope)).error;
      v_path := string_to_array(
        substring(v_error from '^unresolvable reference [$]context[.](.*)'), '.');
    else
      v_path := array(select jsonb_array_elements_text(v_check -> 'needs'));
      if p_context #> v_path is null then
        v_skip := _qwf.resolve(v_check -> 'unless', v_scope);
        v_error := case when v_skip.error is null and not _qwf.is_true(v_skip.value)
          then 'unresolvable' end;
      end if;
    end if;
    if v_error is not null then
      v_found := v_found + 1;
      if v_found > 20 then
        return next ('context', 'has more problems: only the first 20 are listed', null
          )::_qwf.problem;
        exit;
      end if;
      return next row(v_check ->> 'path',
        coalesce('the context has no ' || array_to_string(v_path, '.'),
          regexp_replace(v_error, '^(invalid|unresolvable|malformed): ', '')),
        case when starts_with(v_error, 'unresolvable') then coalesce(
          case when v_found <= 5 then _qwf.context_hint(p_graph, p_context, v_path) end,
          'give it in the context of the run') end)::_qwf.problem;
    end if;
  end loop;
end $$;

-- Suggests what was probably meant by a path that the context of a run does not have. The first
-- segment may be a mistyped step or node, or somebody gave a mistyped key in the context; for a
-- later one the same with the object that the path reaches. Null if nothing is similar.
create function _qwf.context_hint(p_graph bigint, p_context jsonb, p_path text[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given text[];
  v_hint text;
  v_near text;
begin
  for v_length in 1 .. cardinality(p_path) loop
    if p_context #> p_path[:v_length] is null then
      v_given := array(
        select jsonb_object_keys(_qwf.as_object(p_context #> p_path[:v_length - 1])));
      v_hint := _qwf.did_you_mean(p_path[v_length], array(
        select unnest(v_given)
        union
        select unnest(array[n.step_id, split_part(n.node_id, '/', 2)])
        from qwf.graph_nodes n
        where n.graph_id = p_graph and v_length = 1));
      v_near := substring(v_hint from '^did you mean (.*)[?]$');
      return case when v_near = any (v_given)
        then format('you gave %s: did you mean %s?', v_near, p_path[v_length]) else v_hint end;
    end if;
  end loop;
  return null;
end $$;

-- Inserts the nodes of a new run or, with a limit or tries of its own, lets it wait in line:
-- makes the job on the queue of runs for which it runs. A run in line is queued and has no nodes
-- until it is served; its deadline begins then. It starts in this transaction if its limit has
-- room. A run without nodes has completed already.
-- Notifies: sleepers of the queues of the first nodes, if it starts now.
create function _qwf.line_up(
  p_run_id bigint, p_limit_by text, p_max_attempts int, p_backoff jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_run qwf.runs;
  v_job qwf.enqueued;
begin
  select r.* into v_run from qwf.runs r
  where r.id = p_run_id and r.finished_at is null
    and num_nonnulls(p_limit_by, p_max_attempts, p_backoff) > 0;
  if not found then  -- the usual case
    perform _qwf.insert_nodes(array[p_run_id], p_now);
    return;
  end if;
  v_job := _qwf.insert_job((null, 'qwf.run:' || v_run.workflow, '{}', 'qwf.runs', v_run.priority,
    v_run.run_at, null, p_max_attempts, p_backoff, null, null, null, '{}', p_limit_by, null, null,
    v_run.project, v_run.labels, false, false, null, null, null, null, null, false)::_qwf.new_job,
    _qwf.next_position(), p_now);
  update qwf.runs r set
    parent_id = v_job.job_id, open_nodes = 0, active_nodes = 0, deadline_at = null
  where r.id = p_run_id;
  if v_job.run_at is null then
    perform _qwf.wake('qwf.runs', 1);
    perform _qwf.apply_events('{}');
  end if;
end $$;

-- Inserts the jobs of new runs, one for each node of their graphs. One statement, however many
-- runs. A run without nodes has completed. Nodes without dependencies are queued, or scheduled
-- for run_at; a guarded node is opened now, or when it is due. A compensation node is skipped
-- until _end_run needs it. p_missing: only the nodes that a run lacks, blocked, and the caller
-- counts what they wait for.
-- Notifies: sleepers of the queues that got work.
create function _qwf.insert_nodes(
  p_runs bigint[], p_now timestamptz, p_missing boolean default false)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_first _qwf.event[];
  v_queues text[];
begin
  with inserted as (
    insert into qwf.jobs as j (
      run_id, graph_id, node_idx, node_id, queue, task, status, project, priority,
      position, run_at, queued_at, inputs, input_spec, guarded, remaining_deps,
      options, required_model, light, vram_mb, requires, limit_by, limit_place,
      on_failure, run_if, login, acting_for, labels, created_at, finished_at, begun)
    select
      r.id, n.graph_id, n.idx, n.node_id, n.queue, n.task, k.status, r.project, r.priority,
      case when k.status = 'queued' then _qwf.next_position() end,
      case when k.status = 'scheduled' then r.run_at end,
      case when k.status = 'queued' then p_now end,
      n.inputs, n.input_spec, k.guarded, n.dep_count,
      n.options, n.required_model, n.light, n.vram_mb, n.requires, n.limit_by,
      _qwf.limit_place(n.limit_by),
      n.on_failure, n.run_if, null, null, r.labels, p_now,
      case when k.status = 'skipped' then p_now end, case when n.at_most_once then false end
    from qwf.runs r
    join qwf.graph_nodes n on n.graph_id = r.graph_id
    cross join lateral (
      select num_nonnulls(n.skip_if, n.input_spec, n.map, n.compensates, n.delay) > 0) g (guarded)
    cross join lateral (
      select g.guarded, case
          when n.compensates is not null then 'skipped'
          when p_missing or n.dep_count > 0 then 'blocked'
          when r.run_at > p_now then 'scheduled'
          when g.guarded then 'blocked'
          else 'queued'
        end::qwf.job_status as status) k
    where r.id = any (p_runs) and case when p_missing
      then not exists (select from qwf.jobs d where d.run_id = r.id and d.node_idx = n.idx)
      else r.finished_at is null end
    order by r.id, n.idx
    returning j.id, j.run_id, j.status, j.remaining_deps, j.queue
  ), over as (
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select p_now, r.id, 'run_ended', r.workflow,
      _qwf.run_ended('completed', r.finished_at, r.finished_at, null, r.parent_id)
    from qwf.runs r
    where r.id = any (p_runs) and r.finished_at is not null and not p_missing
  )
  select
    array_agg((i.run_id, i.id, 'ready')::_qwf.event)
      filter (where i.status = 'blocked' and i.remaining_deps = 0),
    array_agg(i.queue) filter (where i.status = 'queued')
    into v_first, v_queues
  from inserted i;
  if not p_missing then
    perform _qwf.wake(q, count(*)::int) from unnest(v_queues) q group by q;
    perform _qwf.apply_events(v_first);
  end if;
end $$;
