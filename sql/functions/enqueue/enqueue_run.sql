-- Deploy qwf:functions/enqueue/enqueue_run
-- Purpose: Enqueues a run of a workflow in the caller's transaction.
-- Guarantees: The run and all its nodes exist exactly when that transaction commits, with the
--   definitions of this moment. If the key is taken, returns the run that holds it, and a notice
--   says so if that run has another context. Touches no shared row but a limit that it names. With
--   limit_by, max_attempts or backoff the run waits in line as a job of the engine does: it has
--   nodes when it starts.
-- Locks: limit_by, against being dropped.
-- Notifies: sleepers of the queues of the first nodes.

begin;

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

commit;
