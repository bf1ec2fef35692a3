-- Jobs that are runs, served by the engine itself: claimed, and reported when their run has
-- ended. Locks: the jobs that are runs (by id), then as the ends of attempts; permits of limits,
-- queued jobs, then runs above that have not started, each only if it is free.

create type _qwf.served as (nodes int, run_id bigint, error text);
comment on type _qwf.served is
  'The run of a job of the queue of runs, and how many rows of nodes were made or reset for it; '
  'error: why there is none.';

create type _qwf.started_children as (count int, nodes int, runs bigint[]);
comment on type _qwf.started_children is
  'New runs of the first count jobs of a list, and how many nodes they have.';

-- Starts runs that wait on the queue qwf.runs, in claim order and as the limits allow. Stops
-- after p_nodes rows of nodes or 300 ms, with at least one run. New runs start together. If that
-- fails, or the job had a run before, each starts in a subtransaction of its own, so that a bad
-- one ends alone. Does nothing inside itself. Returns 100 or more only if there may be more.
-- Locks: permits of limits, queued jobs, runs above that have not started, if they are free;
--   then as _report_runs.
-- Notifies: sleepers of the queues of the first nodes.
create function _qwf.serve_runs(p_nodes int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_began constant timestamptz := qwf.now();
  v_full boolean;  -- the bound is reached
  v_now timestamptz;
  v_terms _qwf.claim_terms;
  v_pick _qwf.special_pick;
  v_nodes _qwf.nodes_read;
  v_rest _qwf.picked[];
  v_new _qwf.started_children;
  v_served _qwf.served;
  v_taken _qwf.picked[];
  v_runs bigint[];
  v_spent int := 0;
  v_count int := 0;
  v_secret bytea := uuid_send(gen_random_uuid());
begin
  if current_setting('qwf.serving', true) = pg_current_xact_id()::text then return 0; end if;
  perform set_config('qwf.serving', pg_current_xact_id()::text, true);
  loop
    perform set_config('qwf.runs_due', '', true);
    v_now := qwf.now();
    select q.paused, false, q.max_running, null, null,  -- as claim reads them
      (select true from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null limit 1),
      (select true from qwf.jobs j
        where _qwf.line_of(j) = q.name and j.limit_place is not null
          and j.status in ('queued', 'running') limit 1),
      false, false, null
      into v_terms
    from qwf.queues q where q.name = 'qwf.runs';
    exit when v_terms.closed;
    v_pick := _qwf.pick_special('qwf.runs', v_terms, v_now, 10, false, 10);
    exit when coalesce(v_pick.jobs, '{}') = '{}';
    v_now := qwf.now();  -- again: a picked job may have been queued since the first reading
    v_nodes := _qwf.resolve_inputs(v_pick.jobs, 'qwf.engine', v_now);
    v_rest := v_nodes.jobs;
    v_runs := '{}';
    while v_rest <> '{}' and v_spent < p_nodes loop
      v_new := _qwf.start_children(v_rest, p_nodes - v_spent, v_secret, v_now);
      v_runs := v_runs || v_new.runs;
      if v_new.count = 0 then
        v_served := _qwf.serve_run(v_rest[1], v_secret, v_now);
        v_new := (1, v_served.nodes, null);
        v_runs := v_runs || v_served.run_id;
        perform _qwf.end_attempts(
          array[(j.id, j.token, 'fatal', null, v_served.error, '{}')::_qwf.report])
        from qwf.jobs j where j.id = v_rest[1].id and v_served.error is not null;
        perform _qwf.end_run(r.id, 'failed', v_served.error, true)  -- it waited in line
        from qwf.runs r join qwf.jobs j on j.id = r.parent_id
        where j.id = v_rest[1].id and j.run_id is null and v_served.error is not null;
      end if;
      v_spent := v_spent + v_new.nodes;
      v_rest := v_rest[v_new.count + 1 :];
    end loop;
    v_taken := v_nodes.jobs[: cardinality(v_nodes.jobs) - cardinality(v_rest)];
    v_count := v_count + cardinality(v_taken);
    perform _qwf.start_runs(array(select t.run_id from unnest(v_taken) t), v_now)
    where v_nodes.runs is not null;
    if v_pick.limited then perform _qwf.use_permits(v_pick, v_taken, v_now); end if;
    perform _qwf.report_runs(v_runs);
    v_full := v_spent >= p_nodes or qwf.now() - v_began > interval '300 ms';
    exit when v_full  -- or none is left, and none was queued meanwhile
      or cardinality(v_pick.jobs) < 10 and current_setting('qwf.runs_due') = '';
  end loop;
  perform set_config('qwf.serving', '', true);
  return case when v_full then greatest(v_count, 100) else least(v_count, 99) end;
end $$;

-- Starts the new runs of the jobs at the head of a list that was picked from the queue of runs:
-- steps of runs that had no run before, whose inputs fit. Ends before the first job that needs
-- more (see _serve_run), or with the job with which the runs have p_nodes rows of nodes. All in
-- one subtransaction. If it fails, none has started: count is 0, and _serve_run tells which job
-- is to blame.
-- Locks: the caller has locked the jobs.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: errors that pass (see _is_passing_error).
create function _qwf.start_children(
  p_picked _qwf.picked[], p_nodes int, p_secret bytea, p_now timestamptz)
returns _qwf.started_children
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_jobs bigint[];
  v_graphs bigint[];
  v_contexts jsonb[];
  v_nodes int;
begin
  with found as materialized (
    select p.n, j.id, coalesce(p.inputs, j.inputs) as context, g.graph_id, g.node_count,
      g.inputs, g.context_checks, j.status = 'queued' and g.graph_id is not null and not exists (
        select from qwf.runs r where r.parent_id = j.id) as is_new
    from unnest(p_picked) with ordinality p (
      "row", id, run_id, inputs, error, rare, out_dir, run_created_at, n)
    cross join lateral (  -- offset 0: each by its id, whatever the statistics say
      select b.id, b.status, b.inputs, b.graph_id, b.node_idx, b.parent_id
      from qwf.jobs b where b.id = p.id offset 0) j
    left join qwf.jobs m on m.id = j.parent_id
    left join lateral (
      select g.id as graph_id, g.node_count, g.inputs, g.context_checks
      from qwf.graph_nodes d join qwf.graphs g on g.id = d.child_graph_id
      where d.graph_id = j.graph_id and d.idx = coalesce(j.node_idx, m.node_idx)) g on true
  ), fit as (
    select f.*,
      bool_and(f.is_new and case
        when f.inputs is null and not exists (  -- the usual case
          select from jsonb_array_elements(f.context_checks) c
          where not c ? 'later' and (c ? 'value' or f.context #> array(
            select jsonb_array_elements_text(c -> 'needs')) is null)) then true
        else not exists (select from _qwf.context_problems(f.graph_id, f.context)) end
        ) over w as is_head,
      sum(f.node_count) over w - f.node_count < p_nodes as has_room
    from found f
    window w as (order by f.n)
  )
  select array_agg(f.id order by f.n), array_agg(f.graph_id order by f.n),
    array_agg(f.context order by f.n), sum(f.node_count)
    into v_jobs, v_graphs, v_contexts, v_nodes
  from fit f
  where f.is_head and f.has_room;
  begin
    perform _qwf.start_attempts(v_jobs, v_contexts, p_secret, p_now) where v_jobs is not null;
    return (coalesce(cardinality(v_jobs), 0), coalesce(v_nodes, 0), case when v_jobs is not null
      then _qwf.insert_children(v_jobs, v_graphs, v_contexts, p_now) end)::_qwf.started_children;
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then raise; end if;
      return (0, 0, null)::_qwf.started_children;
  end;
end $$;

-- Makes jobs on the queue of runs running, with the engine as their worker. As claim does for a
-- job; their leases never lapse.
-- Locks: the caller has locked the jobs.
create function _qwf.start_attempts(
  p_jobs bigint[], p_contexts jsonb[], p_secret bytea, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  update qwf.jobs j set
    status = 'running', token = _qwf.new_token(j.id, p_secret), attempt = j.attempt + 1,
    lease_expires_at = '9999-01-01', resolved_inputs = p.context, claimed_at = p_now,
    claimed_by = 'qwf.engine', started_at = coalesce(j.started_at, p_now), run_next = false
  from unnest(p_jobs, p_contexts) p (id, context)
  where j.id = p.id;
end $$;

-- Starts the run of a job that was picked from the queue of runs. Another attempt continues the
-- last run of the job if that failed or was cancelled, and is of the same workflow. If that run
-- is locked, or a body of it still stops, the job waits 5 seconds: the caller holds jobs, so
-- nothing waits here. A run in line that has ended takes its job out of the line, unless it
-- waits there again. Invalid inputs end the attempt as fatal.
-- Locks: the last run of the job, if it is free.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: errors that pass (see _is_passing_error).
create function _qwf.serve_run(p_picked _qwf.picked, p_secret bytea, p_now timestamptz)
returns _qwf.served
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job qwf.jobs;
  v_old qwf.runs;
  v_graph bigint;
  v_context jsonb;
  v_served _qwf.served := (0, null, null);
begin
  select j.* into v_job from qwf.jobs j where j.id = p_picked.id and j.status = 'queued';
  if not found then return v_served; end if;  -- the end of another picked one has cancelled it
  select r.* into v_old from qwf.runs r where r.parent_id = v_job.id order by r.id desc limit 1;
  v_context := coalesce(p_picked.inputs, v_job.inputs);
  v_graph := (
    select n.child_graph_id from qwf.graph_nodes n
    where n.graph_id = v_job.graph_id and n.idx = coalesce(v_job.node_idx, (
      select m.node_idx from qwf.jobs m where m.id = v_job.parent_id)));
  if v_job.run_id is not null and (v_old.status is distinct from 'failed'
    and v_old.status is distinct from 'cancelled'
    or v_old.workflow <> (
      select w.name from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
      where g.id = v_graph))
  then
    v_old := null;
  else
    select r.* into v_old from qwf.runs r where r.id = v_old.id for no key update skip locked;
    if not found or v_job.run_id is null and v_old.status = 'failed' or exists (
      select from qwf.jobs j where j.run_id = v_old.id and j.finished_at is null)
    then
      update qwf.jobs j set status = 'scheduled', run_at = p_now + interval '5 s', position = null,
        queued_at = null
      where j.id = v_job.id;
      return v_served;
    elsif v_job.run_id is null and v_old.finished_at is not null then
      update qwf.jobs j set status = 'cancelled', finished_at = p_now where j.id = v_job.id;
      return v_served;
    end if;
  end if;
  perform _qwf.start_attempts(array[v_job.id], array[v_context], p_secret, p_now);
  begin
    if v_old.id is not null then
      v_served := (case when v_job.run_id is not null
        then _qwf.resume_child(v_job, v_old, v_graph, v_context, p_now)
        else _qwf.resume_child(v_job, v_old,
          coalesce((v_job.inputs -> 'graph_id')::bigint, v_old.graph_id),
          coalesce(v_job.inputs -> 'context', v_old.context), p_now)
        end, v_old.id, null);
    else
      perform _qwf.raise_problems('QW005', 'the inputs do not fit the workflow',
        array(select p from _qwf.context_problems(v_graph, v_context) p));
      v_served := ((select g.node_count from qwf.graphs g where g.id = v_graph),
        (_qwf.insert_children(array[v_job.id], array[v_graph], array[v_context], p_now))[1], null);
    end if;
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then
        raise;
      end if;
      get stacked diagnostics v_served.error = pg_exception_detail;
      v_served := (1, null,
        format('%s %s%s', sqlstate, sqlerrm, ': ' || nullif(v_served.error, '')));
  end;
  return v_served;
end $$;

-- Ends the attempts of the jobs for which runs ran that are over. The fence is that of every
-- report: the token of the job, and the attempt that the run serves. Returns true if what
-- follows for a run above waits in the outbox. A run in line that was cancelled takes its job
-- out of the line. A run in line that failed and has tries left is queued again (see _end_kind).
-- If a body of it still runs, which only a run that ended at once leaves (see _end_run), it
-- stays failed, and is looked at again every 5 seconds.
-- Locks: the jobs on the queue of runs (by id), whose rows nobody holds who waits for a run
--   below; then as _end_attempts.
create function _qwf.report_runs(p_runs bigint[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_reports _qwf.report[];
  v_done _qwf.finished;
  v_in_line boolean;  -- null: none of them has a job
begin
  select bool_or(r.depth = 0),
    array_agg((j.id, j.token, o.outcome, o.output, _qwf.clip(o.error, s.max_error_bytes),
      '{}')::_qwf.report order by j.id) filter (where j.id is not null)
    into v_in_line, v_reports
  from qwf.runs r
  join qwf.graphs g on g.id = r.graph_id
  cross join qwf.settings s
  left join qwf.jobs j on j.id = r.parent_id and j.attempt = r.parent_attempt
    and j.token is not null
  cross join lateral _qwf.run_outcome(r, g.outputs, s.max_value_bytes) o
  where r.id = any (p_runs) and r.parent_id is not null and r.finished_at is not null;
  if v_reports is not null then
    v_done := _qwf.end_attempts(v_reports);
  end if;
  if v_in_line is not true then
    return v_done.pending is not null;  -- the usual case
  end if;
  with over as materialized (  -- in line, not steps of a run
    select r.id, r.status, r.parent_id, r.error
    from qwf.runs r join qwf.jobs j on j.id = r.parent_id and j.run_id is null
    where r.id = any (p_runs) and r.finished_at is not null
  ), free as (
    select j.id, o.id as run_id, o.status, o.error, exists (
        select from qwf.jobs b where b.run_id = o.id and b.finished_at is null) as stops
    from over o join qwf.jobs j on j.id = o.parent_id
    where j.status in ('queued', 'scheduled')
    for no key update of j skip locked
  ), taken as (
    update qwf.jobs j set status = 'cancelled', finished_at = v_now, last_error = f.error
    from free f where j.id = f.id and f.status = 'cancelled'
  ), later as (
    insert into qwf.outbox (run_id, kind, next_try_at)
    select f.run_id, 'stop', v_now + interval '5 s' from free f
    where f.status = 'failed' and f.stops
  )
  update qwf.runs r set status = 'queued', started_at = null, finished_at = null, ending = null,
    error = null, deadline_at = null
  from free f
  where r.id = f.run_id and f.status = 'failed' and not f.stops;
  return v_done.pending is not null;
end $$;
