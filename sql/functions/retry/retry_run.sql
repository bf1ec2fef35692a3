-- A run continued from where it failed, or from a node. Locks: the run, its events, its jobs.

-- Runs the nodes of a run again that retry_plan names, with its own definitions or the current
-- ones, and with another context if one is given. Nodes that are reused keep their outputs. The
-- history of attempts stays, except for nodes that are removed and for elements of a map that
-- runs again as a whole. Nothing that has completed and was not undone runs again unless the
-- caller says what becomes of it. A run that waited in line waits there again; a run of a step
-- is retried with the run above it.
-- Locks: the run, its events, its jobs.
-- Notifies: sleepers of the queues that got work.
create function qwf.retry_run(
  run_id bigint, from_node text default null, latest boolean default false,
  context jsonb default null, named text[] default null, completed text default null)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run qwf.runs;
  v_graph bigint;
  v_context jsonb;
  v_named text[];
  v_plan _qwf.planned[];
  v_count int;
begin
  perform _qwf.lock_runs(array[retry_run.run_id]);
  select r.* into v_run from qwf.runs r where r.id = retry_run.run_id;
  if not found then
    perform _qwf.raise_no_such_run(retry_run.run_id);
  end if;
  perform _qwf.check_retry(v_run, retry_run.from_node, retry_run.completed);
  perform _qwf.notice_versions(v_run, coalesce(retry_run.latest, false));
  v_graph := case when retry_run.latest then _qwf.graph_for(v_run.workflow) else v_run.graph_id end;
  perform _qwf.check_mending(v_run, v_graph, retry_run.context, retry_run.from_node,
    retry_run.completed);
  v_context := v_run.context || coalesce(retry_run.context, '{}');
  v_named := array_remove(retry_run.from_node || retry_run.named, null);
  v_plan := coalesce(
    _qwf.line_up_again(v_run, v_graph, v_context, retry_run.from_node, v_named,
      retry_run.completed),
    _qwf.mend_run(v_run, v_graph, v_context, retry_run.from_node, v_named, retry_run.completed));
  select count(*) into v_count from unnest(v_plan) p where p.verdict in ('new', 'runs again');
  if v_count = 0 then
    raise exception using errcode = 'QW002', message = 'nothing to retry',
      detail = case when v_graph <> v_run.graph_id or retry_run.context <> '{}'
        then format('run %s is %s, and every node that it would keep is reused', v_run.id,
          v_run.status)
        else format('run %s is %s and no node of it failed or was cancelled', v_run.id,
          v_run.status) end,
      hint = 'name a node to run again from there: select qwf.retry_run(run, ''step/node'')';
  end if;
  perform _qwf.check_completed(v_run.id, v_plan, retry_run.completed);
  insert into _qwf.event_log (at, run_id, kind, detail)
  values (qwf.now(), v_run.id, 'retried', jsonb_strip_nulls(jsonb_build_object(
      'from_node', retry_run.from_node, 'completed', retry_run.completed,
      'nodes', (
        select count(*) from unnest(v_plan) p where p.verdict in ('new', 'runs again')),
      'removed', (
        select jsonb_agg(p.node_id order by p.node_id)
        from (
          select u.node_id from unnest(v_plan) u where u.verdict = 'removed'
          order by u.node_id limit 100) p)))
    || case when v_graph = v_run.graph_id then '{}' else (
      select jsonb_build_object('version', w.version, 'old_version', v_run.workflow_version)
      from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
      where g.id = v_graph) end
    || coalesce((
      select jsonb_build_object('old_context', jsonb_object_agg(k, v_run.context -> k))
      from jsonb_object_keys(retry_run.context) k
      where v_run.context -> k is distinct from retry_run.context -> k
      having count(*) > 0), '{}'));
  return v_count;
end $$;
comment on function qwf.retry_run is
  'Runs failed and cancelled nodes again, from_node if given, what other definitions (latest) or '
  'other values of the context change, and all nodes downstream; returns how many. retry_plan '
  'shows it before. A failed map runs only the elements that did not complete again, unless it is '
  'named. A NOTICE tells which clean-up nodes (run_if all_done) have completed: what they have '
  'undone is not done again unless from_node names it. A body that runs at most once and may have '
  'run runs again only if from_node or named names its node. If a node runs again that has '
  'completed and that its compensation node has not taken back, completed says what becomes of '
  'that: compensate takes it back first, and nothing else runs before that has completed; keep '
  'leaves it as it is. A run that only waits for answers may go back to from_node. QW001 no such '
  'run or node, QW002 not over, erased, nothing to retry, it may have run or completed is missing,'
  ' QW003 the current definitions do not fit, QW005 the '
  'context does not fit or completed is not needed, QW008 its key is taken.';
call _qwf.allow('qwf.retry_run', 'qwf_producer');

-- Refuses to retry a run that is not over, that is a step of another run, of which a body still
-- runs, or that is erased. A run that only waits for answers may go back to a node that has
-- ended and is named: no body runs or is about to. Then nothing can be taken back first.
-- Raises: QW002.
create function _qwf.check_retry(
  p_run qwf.runs, p_from_node text, p_completed text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_above bigint := (select j.run_id from qwf.jobs j where j.id = p_run.parent_id);
begin
  if p_run.status = 'awaiting_input' and p_run.parent_id is null and exists (
      select from qwf.jobs j
      where j.run_id = p_run.id and j.node_id = p_from_node and j.finished_at is not null)
    and p_run.then_retry is null and p_completed is distinct from 'compensate' and not exists (
      select from qwf.jobs j
      where j.run_id = p_run.id and j.finished_at is null and not (
        j.status = 'awaiting_input' and j.queue is null
        or j.status = 'blocked' and j.elements is null))
  then
    null;  -- its questions are asked again if they come after that node
  elsif p_run.finished_at is null then
    raise exception using errcode = 'QW002', message = 'the run is not over',
      detail = format('run %s is %s', p_run.id, p_run.status),
      hint = case p_run.status
        when 'awaiting_input'
          then format('name the node to run again, if no body runs: '
            'select qwf.retry_run(%s, ''step/node''); or cancel the run first', p_run.id)
        else 'wait for its end, or cancel it first' end;
  elsif p_run.depth > 0 and v_above is null then
    raise exception using errcode = 'QW002', message = 'the step of the run is gone',
      detail = format('run %s ran for job %s, which is deleted', p_run.id, p_run.parent_id),
      hint = 'its workflow may be enqueued by itself: qwf.enqueue_run()';
  elsif v_above is not null then  -- its own result belongs to that one
    raise exception using errcode = 'QW002', message = format('the run is part of run %s', v_above),
      detail = format('run %s ran for a step of run %s', p_run.id, v_above),
      hint = format('retry that run: select qwf.retry_run(%s)', v_above);
  elsif exists (
    select from qwf.jobs j where j.run_id = p_run.id and j.finished_at is null) then
    raise exception using errcode = 'QW002', message = 'a body of the run is still running',
      detail = format('run %s is %s', p_run.id, p_run.status),
      hint = 'it was told to stop; try again soon, at the latest when its lease has lapsed';
  end if;
  perform _qwf.refuse_erased(p_run.parent_id || array(
    select j.id from qwf.jobs j where j.run_id = p_run.id));
end $$;

-- Tells who retries a run with its own definitions that newer ones are current, or that it moves
-- to them.
create function _qwf.notice_versions(p_run qwf.runs, p_latest boolean) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old record;
  v_executes text;
begin
  select d.kind, d.name, d.version, d.current_version into v_old
  from qwf.run_definitions d
  where d.run_id = p_run.id and d.version <> d.current_version
  order by d.kind desc, d.name  -- the workflow first
  limit 1;
  if not found then
    return;
  end if;
  v_executes := format('%s@%s', p_run.workflow, p_run.workflow_version) || case v_old.kind
    when 'pipeline' then format(' with pipeline %s@%s', v_old.name, v_old.version) else '' end;
  if p_latest then
    raise notice using message = format('run %s executes %s and moves to version %s',
      p_run.id, v_executes, v_old.current_version);
  else
    raise notice using
      message = format('run %s executes %s, version %s is current',
        p_run.id, v_executes, v_old.current_version),
      hint = format('to retry it with the definitions of now: '
        'select qwf.retry_run(%s, latest => true)', p_run.id);
  end if;
end $$;
