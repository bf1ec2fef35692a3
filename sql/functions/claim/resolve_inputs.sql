-- Inputs of nodes resolved during the claim. Callers hold the locks of the jobs.

-- Resolves the references in the inputs of picked jobs, and reads what a worker must know of
-- their runs. Keeps the order. A job whose inputs raise fails alone. If the statement is
-- cancelled after two seconds or more, the jobs before are handed out, those after it stay
-- queued, and a job that took two seconds by itself fails. Finds each row by its place or id,
-- whatever the statistics say (offset 0).
-- Raises: 57014 if it is cancelled sooner, or before it has resolved a job; errors that pass
--   (see _is_passing_error), except 53200 without a hint: one job that needs too much memory
--   would stop its queue. With a hint the memory for locks is full, which no job causes.
create function _qwf.resolve_inputs(p_picked _qwf.picked[], p_worker text, p_now timestamptz)
returns _qwf.nodes_read
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_memoize = off
as $$
declare
  v_is_new boolean; v_is_bad boolean := false;
  v_jobs _qwf.picked[];
  v_refs qwf.graph_nodes[];
  v_node qwf.graph_nodes;
  v_next int := 1;
  v_start timestamptz := qwf.now(); v_began timestamptz;
  v_slow boolean;
  v_hint text;
  v_found _qwf.resolution;
  v_runs bigint[];
begin
  select
    array_agg((p.row, p.id, p.run_id, null, null, null, r.out_dir, r.created_at)::_qwf.picked),
    bool_or(r.is_new), case when bool_or(n.has_refs) then array_agg(n.node) end
    into v_jobs, v_is_new, v_refs from unnest(p_picked) p
  left join lateral (select b.out_dir, b.created_at, b.started_at is null as is_new
    from qwf.runs b where b.id = p.run_id offset 0) r on true
  cross join lateral (
    select j.graph_id, j.node_idx from qwf.jobs j where j.ctid = p.row offset 0) j
  left join lateral (select g as node, g.has_refs from qwf.graph_nodes g
    where g.graph_id = j.graph_id and g.idx = j.node_idx and g.has_refs offset 0) n on true;
  while v_next <= cardinality(v_refs) loop
    begin
      while v_next <= cardinality(v_refs) loop
        v_node := v_refs[v_next];
        v_began := qwf.now();
        if v_node.has_refs then
          v_found := _qwf.resolve(v_node.inputs, (select case when v_node.compensates is null
              then s.scope else s.scope || _qwf.done_of_maps(
                v_jobs[v_next].run_id, v_node.graph_id, v_node.compensates) end
            from _qwf.scope(v_jobs[v_next].run_id, v_node.ref_nodes, v_node.ref_files,
              v_node.reads_run) s));
          v_jobs[v_next].inputs := v_found.value;
          v_jobs[v_next].error := _qwf.resolution_error(v_found.error);
          v_is_bad := v_is_bad or v_found.error is not null;
        end if;
        v_next := v_next + 1;
      end loop;
    exception
      when others or query_canceled then
        get stacked diagnostics v_hint = pg_exception_hint;
        v_slow := coalesce(qwf.now() - v_began >= '2 s', false);
        if _qwf.is_passing_error(sqlstate) and (sqlstate <> '53200' or v_hint <> '')
          or sqlstate = '57014' and not v_slow and (v_next = 1 or qwf.now() - v_start < '2 s')
        then raise; end if;
        if sqlstate <> '57014' or v_slow then
          v_jobs[v_next].error := _qwf.resolution_error(sqlstate || ' ' || left(sqlerrm, 500));
          v_is_bad := true;
          v_next := v_next + 1;
        end if;
        exit when sqlstate = '57014';
    end;
  end loop;
  if v_refs is not null then v_jobs := v_jobs[: v_next - 1]; end if;
  if v_is_new then v_runs := array(select p.run_id from unnest(v_jobs) p); end if;
  if v_is_bad then v_jobs := _qwf.fail_unresolved(v_jobs, p_worker, p_now); end if;
  return (v_jobs, v_runs)::_qwf.nodes_read;
end $$;

-- Fails picked jobs whose references cannot be resolved, or asks a person about them. The
-- refusal is written as an attempt with its reason, and leaves an event for the run. The
-- question does not offer a retry, because what the job refers to stays as it is. Sleepers are
-- woken for the slots that these jobs do not take.
-- Locks: expects the jobs locked by the caller.
-- Notifies: sleepers of the queues where jobs wait for the slots.
create function _qwf.fail_unresolved(p_picked _qwf.picked[], p_worker text, p_now timestamptz)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused bigint[] := array(select p.id from unnest(p_picked) p where p.error is not null);
begin
  with refused as (
    update qwf.jobs j set
      status = k.status, finished_at = case when k.status = 'failed' then p_now end,
      input_spec = case
        when k.status = 'failed' then j.input_spec else _qwf.failure_question(p.error, false) end,
      queued_at = case when k.status = 'failed' then k.queued_at else p_now end,
      last_error = p.error, resolved_inputs = null, attempt = j.attempt + 1,
      claimed_by = p_worker, claimed_at = p_now, started_at = coalesce(j.started_at, p_now),
      run_next = false
    from unnest(p_picked) p
    cross join lateral (
      select case b.on_failure when 'ask' then 'awaiting_input' else 'failed'
        end::qwf.job_status as status, b.queued_at
      from qwf.jobs b where b.id = p.id offset 0) k
    where p.error is not null and j.ctid = p.row
    returning j.id, j.run_id, j.attempt, j.status, j.queue, j.task, k.queued_at, j.last_error
  ), attempted as (
    insert into qwf.job_attempts (
      job_id, attempt, worker, queued_at, started_at, finished_at, outcome, error, detail)
    select r.id, r.attempt, p_worker, r.queued_at, p_now, p_now, 'fatal',
      r.last_error, '{"reason": "unresolved"}'
    from refused r
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), r.queue, r.task, 'fatal',
      array_agg(date_part('epoch', p_now - r.queued_at)::real), array_agg(0::real)
    from refused r where not starts_with(r.queue, 'qwf.') group by r.queue, r.task
  )
  insert into qwf.outbox (run_id, job_id, kind)
  select r.run_id, r.id, case r.status when 'failed' then 'failed' else 'asked' end
  from refused r;
  perform _qwf.add_waits(v_refused), _qwf.announce_trouble(v_refused);
  perform _qwf.wake_for_limit(l.name, count(*)::int)
  from unnest(p_picked) p
  join qwf.jobs j on j.id = p.id
  join qwf.limits l on l.name in (j.limit_by, 'queue:' || j.queue)
  where p.error is not null
  group by l.name;
  return array(
    select p from unnest(p_picked) p where p.error is null);
end $$;
