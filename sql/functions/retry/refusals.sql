-- Reasons to refuse a retry, or to ask the caller to name what it repeats.

-- Refuses to retry a run with a graph, a context or a node that it cannot have. A NOTICE names
-- new values of the context that nothing reads. A context that is the one that the run has, for
-- the graph that it has, was checked when the run was enqueued.
-- Raises: QW001, QW002 for compensation nodes, QW005.
create function _qwf.check_mending(
  p_run qwf.runs, p_graph bigint, p_changes jsonb, p_from_node text, p_completed text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context jsonb := p_run.context || coalesce(p_changes, '{}');
  v_read text[];
  v_unread text[];
begin
  perform _qwf.check_limits(p_graph, _qwf.limits_above(p_run.id)),
    _qwf.check_from_node(p_run, p_graph, p_from_node), _qwf.refuse_compensation(p_run, p_from_node,
      p_graph <> p_run.graph_id or coalesce(p_changes <> '{}', false), p_completed);
  if jsonb_typeof(p_changes) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid context',
      detail = format('context: a JSON object, not %s', jsonb_typeof(p_changes)),
      hint = 'give only the keys that change, for example {"day": "2026-11-26"}';
  end if;
  if p_graph = p_run.graph_id and v_context = p_run.context then
    return;
  end if;
  perform _qwf.check_json('context', v_context, s.max_value_bytes) from qwf.settings s;
  perform _qwf.raise_problems('QW005', 'the context does not fit the workflow',
    array(select p from _qwf.context_problems(p_graph, v_context) p));
  v_read := array(
    select distinct p.path ->> 1
    from qwf.graphs g
    left join qwf.graph_nodes n on n.graph_id = g.id
    cross join lateral jsonb_path_query(
      jsonb_build_array(g.context_checks, to_jsonb(n)), 'strict $.**."$from"') p (path)
    where g.id = p_graph and p.path ->> 0 = '$context' and p_changes <> '{}');
  v_unread := array(
    select k from jsonb_object_keys(p_changes) k where k <> all (v_read) order by k);
  if v_unread <> '{}' then
    raise notice using
      message = format('no node of run %s reads %s of its context', p_run.id,
        left(array_to_string(v_unread, ', '), 200)),
      hint = coalesce(_qwf.did_you_mean(v_unread[1], v_read),
        'it reads ' || left(nullif(array_to_string(v_read, ', '), ''), 500), 'it reads none');
  end if;
end $$;

-- Refuses to retry a run from a node that the graph does not have. An element of a map is named
-- by its own id.
-- Raises: QW001.
create function _qwf.check_from_node(p_run qwf.runs, p_graph bigint, p_from_node text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_of_run text := (  -- the node, or the map of the element
    select coalesce(m.node_id, j.node_id)
    from qwf.jobs j left join qwf.jobs m on m.id = j.parent_id
    where j.run_id = p_run.id and j.node_id = p_from_node);
begin
  if p_from_node is null or exists (
    select from qwf.graph_nodes n
    where n.graph_id = p_graph and n.node_id = coalesce(v_of_run, p_from_node))
  then
    return;
  end if;
  raise exception using errcode = 'QW001', message = 'no such node',
    detail = case
      when v_of_run is null
        then format('run %s has no node %L', p_run.id, left(p_from_node, 200))
      else format('run %s has node %L, the current version of %s has not',
        p_run.id, v_of_run, p_run.workflow) end,
    hint = coalesce(
      _qwf.did_you_mean(p_from_node, array(
        select n.node_id from qwf.graph_nodes n where n.graph_id = p_graph)),
      format('see its nodes: select node_id from qwf.jobs where run_id = %s order by node_idx',
        p_run.id));
end $$;

-- Refuses to let a run go on of which a compensation node failed: nobody knows what of it was
-- taken back. Who retries names that node, so that it takes back again, or a node that it takes
-- back, which then runs again as if nothing was left of it. A compensation node that was stopped
-- counts as failed. One that is named must have failed, and runs with the definitions and the
-- context that the run has. Who says that completed nodes are to be compensated takes back
-- again, too.
-- Raises: QW002.
create function _qwf.refuse_compensation(
  p_run qwf.runs, p_from_node text, p_moves boolean default false, p_completed text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_named boolean := _qwf.names_compensation(p_run, p_from_node);
  v_failed record;
begin
  for v_failed in
    select j.node_id, n.compensates, j.status, (
        select t from unnest(n.compensates) t
        where _qwf.has_completed(p_run.id, n.graph_id, array[t]) limit 1) as target
    from qwf.graph_nodes n
    join qwf.jobs j on j.run_id = p_run.id and j.node_idx = n.idx
    where n.graph_id = p_run.graph_id and n.compensates is not null
      and j.status in ('failed', 'cancelled')
    order by n.idx
  loop
    if v_named and v_failed.node_id = p_from_node and v_failed.target is not null then
      if not p_moves and not exists (
        select from qwf.jobs l where l.id = p_run.parent_id and l.run_id is null)
      then
        return;
      end if;
      raise exception using errcode = 'QW002', message = 'a compensation node runs as it is',
        detail = format('node %s of run %s runs with the definitions and the context of its run, '
          'which must not have waited in line', p_from_node, p_run.id),
        hint = format('name what it takes back: select qwf.retry_run(%s, %L)',
          p_run.id, v_failed.target);
    end if;
    continue when v_named or v_failed.target is null or p_from_node = any (v_failed.compensates)
      or p_completed = 'compensate';
    raise exception using errcode = 'QW002', message = 'a compensation node failed',
      detail = format('%s of run %s is %s: %s may be in force', v_failed.node_id, p_run.id,
        v_failed.status, v_failed.target),
      hint = format('take it back again: select qwf.retry_run(%s, %L); or run it again as if it '
        'were taken back: select qwf.retry_run(%s, %L, completed => ''keep'')', p_run.id,
        v_failed.node_id, p_run.id, v_failed.target);
  end loop;
  if v_named then
    raise exception using errcode = 'QW002', message = 'the compensation node did not fail',
      detail = format('%s of run %s', p_from_node, p_run.id),
      hint = format('retry the run, or name another node: select qwf.retry_run(%s)', p_run.id);
  end if;
end $$;

-- True if this is a compensation node of a run: a retry from there takes back again.
create function _qwf.names_compensation(p_run qwf.runs, p_node text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from qwf.graph_nodes n
    where n.graph_id = p_run.graph_id and n.node_id = p_node and n.compensates is not null)
$$;

-- Refuses a retry that runs a completed node again that its compensation node has not taken
-- back, unless the caller says what is to become of what it did: it would be done twice, and
-- taken back once. Refuses that word, too, if nothing needs it.
-- Raises: QW002, QW005.
create function _qwf.check_completed(
  p_run bigint, p_plan _qwf.planned[], p_completed text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node text;
  v_by text;
begin
  select p.node_id, p.undo into v_node, v_by
  from unnest(p_plan) p where p.undo is not null
  order by p.idx limit 1;
  if p_completed not in ('compensate', 'keep') then
    raise exception using errcode = 'QW005', message = 'invalid choice',
      detail = format('completed: compensate or keep, not %L', left(p_completed, 200)),
      hint = 'say compensate to take back first what runs again, or keep to leave it as it is';
  elsif p_completed is not null and v_node is null then
    raise exception using errcode = 'QW005', message = 'there is nothing to compensate or keep',
      detail = format('no node of run %s runs again that has completed and can be taken back',
        p_run),
      hint = 'leave completed out';
  elsif p_completed is null and v_node is not null then
    raise exception using errcode = 'QW002', message = 'a node runs again that was not taken back',
      detail = format('%s of run %s has completed, and %s has not taken it back', v_node, p_run,
        v_by),
      hint = 'retry_run with completed => ''compensate'' takes it back first; with completed => '
        '''keep'' it stays as it is, and runs once more';
  end if;
end $$;

-- Returns the jobs that the plan of a retry would run again although they run at most once and
-- may have run: with the node of the plan under which each is. Follows maps to their elements
-- and steps to their last runs. In a map or run that goes on, only failed and cancelled parts
-- run again; in one that starts from the beginning, all parts do.
create function _qwf.maybe_run(p_plan _qwf.planned[], p_from_node text)
returns table (named text, run_id bigint, node_id text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    with recursive again (named, anew, job) as (
      select p.node_id, p.anew or not p.resumes and j.elements is not null, j
      from unnest(p_plan) p join qwf.jobs j on j.id = p.job_id
      where p.verdict in ('runs again', 'runs first')
      union all
      select a.named, a.anew, below.job
      from again a
      cross join lateral (
        select e as job from qwf.jobs e
        where (a.job).elements is not null and e.parent_id = (a.job).id
        union all
        select b from (
          select r.id from qwf.runs r
          where (a.job).queue = 'qwf.runs' and r.parent_id = (a.job).id
          order by r.id desc limit 1) l
        join qwf.jobs b on b.run_id = l.id
      ) below
    )
    select a.named, (a.job).run_id, (a.job).node_id
    from again a
    where (a.job).begun and (a.anew or (a.job).status in ('failed', 'cancelled')
      or (a.job).node_id = p_from_node)
    order by (a.job).id;
end $$;

-- Refuses a retry that would run a body again that runs at most once and may have run, unless
-- the caller names its node, the map of which it is an element, or the step whose run has it.
-- Refuses names of no node.
-- Raises: QW001, QW002.
create function _qwf.refuse_maybe_run(
  p_run qwf.runs, p_graph bigint, p_plan _qwf.planned[], p_from_node text, p_named text[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  perform _qwf.check_from_node(p_run, p_graph, n) from unnest(p_named) n
  where n not in (select u.node_id from _qwf.maybe_run(p_plan, p_from_node) u);
  select count(*) as count, array_agg(distinct m.named) as named,
    string_agg(format('%s of run %s', m.node_id, m.run_id), ', ' order by m.run_id, m.node_id)
      filter (where m.n <= 5) as first
    into v_found
  from (
    select u.*, row_number() over () as n
    from _qwf.maybe_run(p_plan, p_from_node) u
    where u.named <> all (p_named) and u.node_id <> all (p_named)
  ) m;
  if v_found.count > 0 then
    raise exception using errcode = 'QW002', message = 'it may have run',
      detail = v_found.first
        || case when v_found.count > 5 then format(' and %s more', v_found.count - 5) else '' end,
      hint = format('look whether it has run; if it has not, name it: '
        'select qwf.retry_run(%s, named => %L)', p_run.id, p_named || v_found.named);
  end if;
end $$;

-- Refuses a retry that would go on with a run of a step, however deep, of which a compensation
-- node failed: the step would fail again. Who names the step wants what that node takes back to
-- run again (see _forget_compensations). Follows only steps that failed or were cancelled to the
-- last run that they had: any other step starts a new run. A map that runs again as a whole
-- starts new ones, too.
-- Raises: QW002.
create function _qwf.refuse_below(p_run bigint, p_plan _qwf.planned[], p_from_node text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_failed record;
begin
  with recursive again as (
    select j.node_id, j.id, j.queue, j.status
    from unnest(p_plan) p join qwf.jobs j on j.id = p.job_id
    where p.verdict = 'runs again' and j.elements is null
    union all
    select j.node_id, j.id, j.queue, j.status
    from unnest(p_plan) p join qwf.jobs j on j.parent_id = p.job_id
    where p.resumes
  ), step (named, id) as (
    select a.node_id, a.id from again a
    where a.queue = 'qwf.runs' and a.status in ('failed', 'cancelled')
      and a.node_id is distinct from p_from_node
    union all
    select s.named, j.id
    from step s
    cross join lateral (
      select r.id, r.status from qwf.runs r where r.parent_id = s.id
      order by r.id desc limit 1) l
    join qwf.jobs j on j.run_id = l.id and j.queue = 'qwf.runs' and j.elements is null
      and j.status in ('failed', 'cancelled')
    where l.status in ('failed', 'cancelled')
  )
  select s.named, c.run_id, c.node_id, c.status, c.takes_back into v_failed
  from step s
  cross join lateral (
    select r.id, r.status from qwf.runs r where r.parent_id = s.id order by r.id desc limit 1) l
  join qwf.compensations c on c.run_id = l.id and c.status in ('failed', 'cancelled')
  join qwf.jobs t on t.id = c.takes_back_job and t.status = 'completed'
  where l.status in ('failed', 'cancelled')
  order by c.run_id, c.job_id
  limit 1;
  if found then
    raise exception using errcode = 'QW002', message = 'a compensation node failed',
      detail = format('%s of run %s, which runs for step %s, is %s: %s may be in force',
        v_failed.node_id, v_failed.run_id, v_failed.named, v_failed.status, v_failed.takes_back),
      hint = format('run it again as if it were taken back: select qwf.retry_run(%s, %L)', p_run,
        v_failed.named);
  end if;
end $$;
