-- Results and states of jobs and runs, for programs that wait for them.

-- Returns the status, progress, output and error of a job.
create function qwf.result(job_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_result jsonb;
begin
  select jsonb_build_object(
      'job_id', j.id, 'status', j.status, 'attempt', j.attempt, 'worker', j.claimed_by,
      'progress', case when j.status = 'completed' then 1 else p.fraction end,
      'message', p.message, 'output', j.output, 'error', j.last_error)
    into v_result
  from qwf.jobs j
  left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
  where j.id = result.job_id;
  if v_result is null then
    perform _qwf.raise_no_such_job(result.job_id);
  end if;
  return v_result;
end $$;
comment on function qwf.result is
  'Status, attempt, worker, progress (0 to 1; 1 when completed) with its message, output and error '
  'of a job; QW001: no such job.';
call _qwf.allow('qwf.result', 'qwf_producer', 'qwf_viewer');

-- Returns those of many jobs and runs that have ended: one call serves all who wait. No row for
-- one that has not ended. A row with a null status for one that is not there: its queue keeps no
-- completed jobs, its retention has passed, or the transaction that enqueued it is still open.
create function qwf.ended(job_ids bigint[] default '{}', run_ids bigint[] default '{}')
returns setof jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
begin
  if cardinality(ended.job_ids || ended.run_ids) > 10000 then
    raise exception using errcode = 'QW005', message = 'too many jobs and runs',
      detail = format('%s ids, at most 10000', cardinality(ended.job_ids || ended.run_ids)),
      hint = 'call it once for each 10000';
  end if;
  return query
  select jsonb_build_object(
    'job_id', given.id, 'status', j.status, 'attempt', j.attempt, 'worker', j.claimed_by,
    'progress', case when j.status = 'completed' then 1 else p.fraction end,
    'message', p.message, 'output', j.output, 'error', j.last_error)
  from unnest(ended.job_ids) given (id)
  left join qwf.jobs j on j.id = given.id
  left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
  where j.id is null or j.status in ('completed', 'failed', 'cancelled', 'skipped')
  union all
  select jsonb_build_object(
    'run_id', given.id, 'workflow', r.workflow, 'status', r.status, 'error', r.error)
  from unnest(ended.run_ids) given (id)
  left join qwf.runs r on r.id = given.id
  where r.id is null or r.status in ('completed', 'failed', 'cancelled');
end $$;
comment on function qwf.ended is
  'Those of these jobs and runs (at most 10000) that have ended: of a job the same object as '
  'result(); of a run run_id, workflow, status and error. Nothing for one that has not ended; '
  'status is null for one that is not there.';
call _qwf.allow('qwf.ended', 'qwf_producer', 'qwf_viewer');

-- Returns a run, all its nodes and the tries that have ended as one document. One snapshot, so
-- that the run and its nodes agree. Elements are counted for maps only. A node that waits for a
-- person has its question, one that waits for a signal its name. Reads each node and edge once,
-- whatever the statistics say.
create function qwf.run_status(run_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_needs jsonb;  -- by idx of a node: the nodes it depends on; read once for all nodes
  v_status jsonb;
begin
  select coalesce(jsonb_object_agg(n.to_idx, n.needs), '{}') into v_needs
  from (
    select e.to_idx, jsonb_agg(d.node_id order by d.idx) as needs
    from qwf.runs r
    join qwf.graph_edges e on e.graph_id = r.graph_id
    join qwf.graph_nodes d on d.graph_id = e.graph_id and d.idx = e.from_idx
    where r.id = run_status.run_id
    group by e.to_idx) n;
  select jsonb_build_object(
      'run', to_jsonb(r) - 'then_retry' || jsonb_build_object(
        'takes_back_first', r.then_retry is not null,
        'parent_run', (select p.run_id from qwf.jobs p where p.id = r.parent_id),
        'parent_node', (select p.node_id from qwf.jobs p where p.id = r.parent_id),
        'seconds', extract(epoch from coalesce(r.finished_at, v_now) - r.started_at)),
      'nodes', coalesce(n.nodes, '[]'),
      'tries', coalesce((select jsonb_agg(to_jsonb(t) - 'run_id' order by t.try)
        from qwf.run_tries t where t.run_id = r.id), '[]')) into v_status
  from qwf.runs r
  cross join lateral (
    select jsonb_agg(jsonb_build_object(
      'job_id', j.id, 'node_id', j.node_id, 'step_id', split_part(j.node_id, '/', 1),
      'status', j.status, 'queue', j.queue, 'task', j.task, 'attempt', j.attempt,
      'progress', case when j.status = 'completed' then 1 else p.fraction end,
      'message', coalesce(p.message, (
        select m.message from qwf.run_nodes m
        where m.run_id = j.run_id and m.idx = j.node_idx)),
      'error', j.last_error, 'worker', j.claimed_by, 'started_at', j.claimed_at,
      'finished_at', j.finished_at,
      'seconds', extract(epoch from
        coalesce(j.finished_at, case when j.status = 'running' then v_now end) - j.claimed_at),
      'depends_on', coalesce(v_needs -> j.node_idx::text, '[]')
      ) || case when j.elements is null then '{}' else jsonb_build_object('elements', (
        select coalesce(jsonb_object_agg(e.status, e.count), '{}')
        from (
          select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
        ) e)) end || case when j.status = 'awaiting_input' and j.input_spec ? 'widget'
          then jsonb_build_object('question', _qwf.question(j)) else '{}' end
        || case when j.status = 'awaiting_input' and j.input_spec ? 'signal'
          then jsonb_build_object('signal', j.input_spec -> 'signal') else '{}' end
        || case when starts_with(j.queue, 'qwf.')
          then jsonb_build_object('child_runs', (  -- of the step, or of the elements of its map
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', c.id, 'node_id', c.node_id, 'workflow', c.workflow,
              'status', c.status, 'done', c.done, 'total', c.node_count) order by c.place), '[]')
            from (
              select k.id, s.node_id, k.workflow, k.status, k.node_count, d.done,
                row_number() over (
                  order by k.finished_at is not null, k.status = 'completed', k.id) as place
              from qwf.jobs s
              cross join lateral (
                select b.* from qwf.runs b where b.parent_id = s.id order by b.id desc limit 1) k
              cross join lateral (
                select count(*)::int as done from qwf.jobs n
                where n.run_id = k.id and n.node_idx is not null
                  and n.status in ('completed', 'skipped')) d
              where s.id = j.id or s.parent_id = j.id
              order by place
              limit 20
            ) c))
          else '{}' end || coalesce((select jsonb_build_object('takes_back', g.compensates)
            from qwf.graph_nodes g where j.run_if = 'compensates'
              and g.graph_id = j.graph_id and g.idx = j.node_idx), '{}')
      order by j.node_idx) as nodes
    from qwf.jobs j
    left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
    where j.run_id = r.id and j.node_idx >= 0  -- not the elements of maps
  ) n
  where r.id = run_status.run_id;
  if v_status is null then
    perform _qwf.raise_no_such_run(run_status.run_id);
  end if;
  return v_status;
end $$;
comment on function qwf.run_status is
  'The run; its nodes in topological order with states, durations (seconds), errors, dependencies '
  'and open questions; of a node that runs a workflow, child_runs: at most 20 of its runs, live '
  'ones first; of a compensation node, what it takes_back; and its tries that have ended, as in '
  'view run_tries. QW001: no such run.';
call _qwf.allow('qwf.run_status', 'qwf_producer', 'qwf_viewer');

-- Returns what looks wrong in the context of a run that was enqueued: keys that nobody reads and
-- that look like missing ones, and missing keys that a step or node needs unless it is skipped.
-- And whether the run has another context: it had the same key and was there before. Only a
-- look. A key that is like nothing is not returned: it may be for people. A missing key is
-- returned only if the skip_if reads more than the context: else enqueue_run decides.
create function qwf.context_notes(run_id bigint, context jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_graph bigint;
  v_other boolean;
  v_read jsonb[];
begin
  select r.graph_id, r.context is distinct from context_notes.context into v_graph, v_other
  from qwf.runs r where r.id = context_notes.run_id;
  if not found then
    perform _qwf.raise_no_such_run(context_notes.run_id);
  end if;
  perform _qwf.check_json('context', context_notes.context, s.max_value_bytes)
  from qwf.settings s;
  if jsonb_typeof(context_notes.context) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid context',
      detail = format('context %s', _qwf.excerpt(context_notes.context)),
      hint = 'give the JSON object that the run was started with';
  end if;
  v_read := array(
    select distinct p.path - 0
    from qwf.graphs g
    left join qwf.graph_nodes n on n.graph_id = g.id
    cross join lateral jsonb_path_query(
      jsonb_build_array(g.context_checks, to_jsonb(n)), 'strict $.**."$from"') p (path)
    where g.id = v_graph and p.path ->> 0 = '$context');
  return jsonb_build_object(
    'unused', v_other,
    'unread', (
      select coalesce(jsonb_object_agg(u.path, u.meant), '{}')
      from _qwf.unread_keys(context_notes.context, v_read, '') u),
    'needed', (
      select coalesce(jsonb_object_agg(m.path, m.reader), '{}')
      from (
        select array_to_string(p.path, '.') as path, min(split_part(c ->> 'path', '.', 1)) as reader
        from qwf.graphs g
        cross join lateral jsonb_array_elements(g.context_checks) c
        cross join lateral (select array(select jsonb_array_elements_text(c -> 'needs'))) p (path)
        where g.id = v_graph and c ? 'later' and context_notes.context #> p.path is null
        group by 1) m));
end $$;
comment on function qwf.context_notes is
  'Doubtful parts of the context of a run: "unused" is true if the run has another context, '
  'because it was there before and has the same key; "unread" has the keys that its workflow does '
  'not read, each with the missing key that was probably meant; "needed" has the missing '
  'keys that a step or node needs unless it is skipped, each with its name. QW001: no such run; '
  'QW005: the context is not an object.';
call _qwf.allow('qwf.context_notes', 'qwf_producer', 'qwf_viewer');

-- Returns the keys of an object that nobody reads and that look like missing ones. Looks at the
-- first 1,000 keys of each object. None if the whole object is read.
create function _qwf.unread_keys(p_value jsonb, p_read jsonb[], p_place text)
returns table (path text, meant text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_missing text[];
  v_key text;
  v_inner jsonb;
  v_below jsonb[];
begin
  if exists (select from unnest(p_read) r where jsonb_typeof(r -> 0) is distinct from 'string') then
    return;
  end if;
  v_missing := array(select distinct r ->> 0 from unnest(p_read) r where not p_value ? (r ->> 0));
  for v_key, v_inner in select k.key, k.value from jsonb_each(p_value) k limit 1000 loop
    v_below := array(select r - 0 from unnest(p_read) r where r ->> 0 = v_key);
    if v_below = '{}' then
      path := p_place || v_key;
      meant := p_place
        || substring(_qwf.did_you_mean(v_key, v_missing) from '^did you mean (.*)[?]$');
      if meant is not null then
        return next;
      end if;
    elsif jsonb_typeof(v_inner) = 'object' then
      return query
        select u.path, u.meant from _qwf.unread_keys(v_inner, v_below, p_place || v_key || '.') u;
    end if;
  end loop;
end $$;
