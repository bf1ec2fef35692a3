-- The plan of a retry: what it keeps, what it runs again, and why. People see the plan that the
-- retry then carries out.

create type _qwf.planned as (
  node_id text, idx int, job_id bigint, verdict text, because text, resumes boolean,
  anew boolean, undo text);
comment on type _qwf.planned is
  'A node in the plan of a retry: it is reused, runs again, is new or is removed, and why. '
  'resumes: a map that reuses its completed elements. anew: its inputs or its definition may '
  'differ. undo: the compensation nodes that have not taken back what it has done before. idx is '
  'that of the graph that the run gets, job_id null for a new node.';

-- Shows the plan of retry_run with the same arguments: what is reused, what runs again, what is
-- new and what is removed, and why. Changes nothing and locks nothing. Raises what retry_run
-- would raise, and gives its notices, except that a plan is shown that runs nothing, or that
-- runs completed nodes again although nobody has said what becomes of what they did, and that a
-- key may be taken by then.
create function qwf.retry_plan(
  run_id bigint, from_node text default null, latest boolean default false,
  context jsonb default null, completed text default null)
returns table (node_id text, verdict text, because text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run qwf.runs;
  v_graph bigint;
  v_plan _qwf.planned[];
begin
  select r.* into v_run from qwf.runs r where r.id = retry_plan.run_id;
  if not found then
    perform _qwf.raise_no_such_run(retry_plan.run_id);
  end if;
  perform _qwf.check_retry(v_run, retry_plan.from_node, retry_plan.completed);
  perform _qwf.notice_versions(v_run, coalesce(retry_plan.latest, false));
  v_graph := case when retry_plan.latest then _qwf.graph_for(v_run.workflow)
    else v_run.graph_id end;
  perform _qwf.check_mending(v_run, v_graph, retry_plan.context, retry_plan.from_node,
    retry_plan.completed);
  v_plan := array(
    select p from _qwf.plan_retry(v_run, v_graph,
      v_run.context || coalesce(retry_plan.context, '{}'), retry_plan.from_node,
      retry_plan.completed) p);
  if retry_plan.completed is not null then
    perform _qwf.check_completed(v_run.id, v_plan, retry_plan.completed);
  end if;
  perform _qwf.refuse_below(v_run.id, v_plan, retry_plan.from_node);
  perform _qwf.notice_clean_up(v_run, array(
    select p.job_id from unnest(v_plan) p where p.verdict = 'runs again'));
  return query
    select p.node_id, p.verdict, p.because || coalesce('; it may have run' || m.which, '')
    from unnest(v_plan) with ordinality p
    left join (
      select u.named, case
          when count(*) = 1 and min(u.node_id) = u.named then ''
          else ': ' || array_to_string((array_agg(u.node_id))[:5], ', ') end
        || case when count(*) > 5 then format(' and %s more', count(*) - 5) else '' end as which
      from _qwf.maybe_run(v_plan, retry_plan.from_node) u group by u.named) m on m.named = p.node_id
    order by p.ordinality;
end $$;
comment on function qwf.retry_plan is
  'The plan of retry_run with the same arguments, a row for each node: reused, runs again, new or '
  'removed, and why; with completed => compensate, also what runs first. It changes nothing. '
  'QW001 no such run or node, QW002 not over or erased, QW003 the current definitions do not fit, '
  'QW005 the context does not fit or completed is not needed.';
call _qwf.allow('qwf.retry_plan', 'qwf_producer', 'qwf_viewer');

-- Plans the retry of a run that has ended: which nodes are reused, run again, are new or
-- removed, and why. Only here is this decided: retry_plan shows the rows, _mend_run acts on
-- them. A node runs again for a reason of its own, or because one before it does. A map resumes
-- if only its elements failed or were named; its list is read again if elements never had
-- inputs. A repeat starts again from its first turn, unless its max is higher now. Compensation
-- nodes are skipped again, unless one is named. With p_completed compensate, those that have not
-- undone what runs again open first.
create function _qwf.plan_retry(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text, p_completed text)
returns setof _qwf.planned
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_named boolean := _qwf.names_compensation(p_run, p_from_node);
  v_first boolean := not v_named and coalesce(p_completed = 'compensate', false);
begin
  return query
    with recursive node as materialized (
      select * from _qwf.reasons_to_run(p_run, p_graph, p_context, p_from_node)
    ), undo as materialized (
      select n.idx, u.node_id as by from node n cross join lateral unnest(n.left_by) u (node_id)
      where v_first
    ), again (idx) as (
      select n.idx from node n
      where (coalesce(n.changed, n.failed) is not null or v_first and n.stuck)
        and not n.compensates and not v_named
      union
      select x.idx from again a cross join lateral (
        select e.to_idx as idx from qwf.graph_edges e join qwf.graph_nodes n
          on (n.graph_id, n.idx) = (p_graph, e.to_idx) and n.compensates is null
        where e.graph_id = p_graph and e.from_idx = a.idx
        union all
        select o.idx from undo u join undo o on o.by = u.by where u.idx = a.idx) x
    ), first as materialized (
      select u.by, string_agg(n.node_id, ', ' order by n.idx) as targets
      from again a join undo u on u.idx = a.idx join node n on n.idx = a.idx group by u.by
    ), follower as materialized (
      select e.to_idx as idx, min(e.from_idx) as before
      from again a join qwf.graph_edges e on e.graph_id = p_graph and e.from_idx = a.idx
      group by e.to_idx
    )
    select n.node_id, n.idx, n.job_id,
      case
        when v_named and n.node_id = p_from_node then 'runs again'
        when v_named then 'unchanged'
        when n.compensates and c.by is not null then 'runs first'
        when n.compensates then 'skipped'
        when n.job_id is null then 'new'
        when a.idx is null then 'reused'
        else 'runs again'
      end,
      case
        when v_named then case when n.node_id = p_from_node then 'it was named' end
        when n.compensates then coalesce('it takes back ' || c.targets,
          'it runs only if the run fails or is cancelled')
        else nullif(concat_ws('; ', coalesce(n.changed,
          n.failed || coalesce('; ' || _qwf.kept_below(
            n.job_id, p_from_node, case when m.resumes then m.reused end), ''),
          b.node_id || case when b.job_id is null then ' is new' else ' runs again' end),
          l.by || case p_completed when 'compensate' then ' takes it back first'
            when 'keep' then ' does not take it back' else ' has not taken it back' end), '') end,
      coalesce(m.resumes, false) and not v_named,
      (n.changed is not null or f.idx is not null or v_first and n.left_by is not null)
        and not v_named and not n.compensates, l.by
    from node n
    left join again a on a.idx = n.idx
    left join follower f on f.idx = n.idx
    left join node b on b.idx = f.before
    left join first c on c.by = n.node_id
    left join lateral (
      select not coalesce(bool_or(e.attempt = 0 and (e.status = 'failed'
            or e.input_spec is not null)), false)
          and (bool_or(e.status in ('failed', 'cancelled') or e.node_id = p_from_node)
            or n.max_turns > n.elements is not false) as resumes,
        count(*) filter (where e.status not in ('failed', 'cancelled')
          and e.node_id is distinct from p_from_node and (n.max_turns is null
            or e.element < all (select x.element from qwf.jobs x
              where x.parent_id = n.job_id and x.node_id = p_from_node))) as reused
      from qwf.jobs e where e.parent_id = n.job_id
    ) m on n.elements is not null and n.failed is not null and n.changed is null
      and f.idx is null and not (v_first and n.left_by is not null)
    left join lateral (select array_to_string(n.left_by[:5], ', ') as by) l
      on a.idx is not null and not (coalesce(m.resumes, false) and starts_with(n.failed, 'it '))
    union all
    select j.node_id, null, j.id, case when c.by is null then 'removed' else 'runs first' end,
      concat_ws('; ', 'it takes back ' || c.targets, 'the definition no longer has it'), false,
      false, null
    from qwf.jobs j left join first c on c.by = j.node_id
    where j.run_id = p_run.id and j.node_idx >= 0 and p_graph <> p_run.graph_id
      and not exists (select from node n where n.job_id = j.id)
    order by 2 nulls last, 1;
end $$;

-- Returns the nodes of a graph, each with its job in a run that is over, and with the first
-- reason of its own why the run cannot reuse that job. Looks for changed before failed: a failed
-- map keeps its completed elements only if nothing else is wrong with it. A named element stands
-- for its map. What a compensation node has taken back counts as undone; such a node itself has
-- no reason. left_by are the compensation nodes that have not taken back what a node has done,
-- stuck: one of them has failed. Reads the context paths of a node only if the context changed.
-- Joins by hash, whatever the statistics say: nested loops would compare each node with each job.
create function _qwf.reasons_to_run(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text)
returns table (
  node_id text, idx int, job_id bigint, elements int, max_turns int, compensates boolean,
  changed text, failed text, left_by text[], stuck boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_nestloop = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_map bigint := (
    select j.parent_id from qwf.jobs j
    where j.run_id = p_run.id and j.node_id = p_from_node and j.parent_id is not null);
begin
  return query
    with old as materialized (
      select j.id, j.node_idx, j.node_id, j.status, j.elements from qwf.jobs j
      where j.run_id = p_run.id and j.node_idx >= 0
    ), undone as materialized (
      select t.node_id, min(o.node_id) filter (where o.status = 'completed') as by,
        array_agg(o.node_id order by o.node_id) filter (where o.status <> 'completed') as left_by,
        bool_or(o.status in ('failed', 'cancelled')) as stuck
      from old o join qwf.graph_nodes c on c.graph_id = p_run.graph_id and c.idx = o.node_idx
      cross join lateral unnest(c.compensates) t (node_id)
      group by t.node_id
    ), gone as materialized (
      select o.node_id from old o
      where p_graph <> p_run.graph_id and not exists (
        select from qwf.graph_nodes n where n.graph_id = p_graph and n.node_id = o.node_id)
    )
    select n.node_id, n.idx, o.id, o.elements, (n.repeat -> 'max')::int, n.compensates is not null,
      case
        when o.id is null then 'it is new'
        when n.compensates is not null then null
        when n.node_id = p_from_node then 'it was named'
        when u.by is not null and d.done then 'it was taken back by ' || u.by
        when p_graph <> p_run.graph_id and _qwf.made_by(n) is distinct from _qwf.made_by(was)
          then 'its definition changed'
        else coalesce(c.reason, (
          select format('it reads files of %s, which is gone', min(g.node_id))
          from gone g join unnest(n.ref_files) f
            on g.node_id = f or starts_with(g.node_id, f || '/')
          having count(*) > 0))
      end,
      case
        when n.compensates is not null then null
        when o.id = v_map then format('its element %s was named', p_from_node)
        when o.status = 'failed' then 'it failed'
        when o.status = 'cancelled' then 'it was cancelled'
        when o.status not in ('completed', 'skipped') and p_run.status <> 'awaiting_input'
          then 'it is ' || o.status
      end,
      case when d.done and (u.by is null or u.stuck) then u.left_by end, d.done and u.stuck
    from qwf.graph_nodes n
    left join old o on o.node_id = n.node_id
    left join undone u on u.node_id = n.node_id
    cross join lateral (
      select o.status = 'completed' or u.node_id is not null and o.elements is not null
        and n.repeat is null and exists (
          select from qwf.jobs e where e.parent_id = o.id and e.status = 'completed') as done) d
    left join qwf.graph_nodes was on was.graph_id = p_run.graph_id and was.idx = o.node_idx
    left join lateral (
      select format('it reads %s of the context, which changed', array_to_string(k.path, '.'))
        as reason
      from (select jsonb_build_array(n.inputs, n.map, n.skip_if, n.input_spec, n.repeat) as value) v
      cross join lateral _qwf.absolute_paths(v.value) p
      cross join lateral (select array(select jsonb_array_elements_text(p - 0)) as path) k
      where p_context <> p_run.context and v.value::text ~ '"[$]context"'
        and p ->> 0 = '$context'
        and p_context #> k.path is distinct from p_run.context #> k.path
      order by k.path limit 1) c on true
    where n.graph_id = p_graph;
end $$;

-- Returns what makes the result of a node: two nodes with the same value give the same result
-- for the same context. References are absolute, so a value says where it comes from, too.
-- Queue, timeouts, tries, limits, max_parallel, min_success, and max and every of a repeat are
-- not in it: they change when and where a node runs, not what it gives. A step that runs a
-- workflow has the nodes and outputs of that, too.
create function _qwf.made_by(p_node qwf.graph_nodes) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_array(
    p_node.task, p_node.inputs, p_node.map, p_node.skip_if, p_node.input_spec, p_node.run_if,
    p_node.required_model, p_node.repeat -> 'until', (
      select jsonb_build_array(g.outputs, (
        select jsonb_object_agg(n.node_id, _qwf.made_by(n))
        from qwf.graph_nodes n where n.graph_id = g.id))
      from qwf.graphs g where g.id = p_node.child_graph_id))
$$;

-- Says what a retry keeps of a map that resumes, and of the runs of a step that runs a workflow:
-- how many are reused, go on, or are new. p_reused is null unless the map resumes. Null if
-- nothing is kept. A run goes on if it is the last one of its job and failed or was cancelled,
-- as in _serve_run. Turns of a repeat after one that is named are deleted, so they do not count.
create function _qwf.kept_below(p_job bigint, p_from_node text, p_reused bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
  select case
    when n.workflow is null then format('elements reused: %s of %s', p_reused, j.elements)
    when j.elements is null then (
      select format('run %s goes on', r.id)
      from (
        select r.id, r.status from qwf.runs r where r.parent_id = j.id
        order by r.id desc limit 1) r
      where r.status in ('failed', 'cancelled'))
    else (
      select concat_ws(', ',
        p_reused || case when p_reused = 1 then ' run reused' else ' runs reused' end,
        nullif(e.last, 0) || case when e.last = 1 then ' goes on' else ' go on' end,
        nullif(e.again - e.last, 0) || ' new')
      from (
        select count(*) as again,
          count(*) filter (where r.status in ('failed', 'cancelled')) as last
        from qwf.jobs e
        left join lateral (
          select r.status from qwf.runs r where r.parent_id = e.id order by r.id desc limit 1
        ) r on true
        where e.parent_id = j.id
          and (e.status in ('failed', 'cancelled') or e.node_id = p_from_node)
          and (n.repeat is null or not exists (
            select from qwf.jobs x
            where x.parent_id = j.id and x.node_id = p_from_node and x.element < e.element))) e)
  end
  from qwf.jobs j
  join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
  where j.id = p_job and (p_reused is not null or n.workflow is not null and j.elements is null)
$$;

-- Tells who retries a run which clean-up nodes of it have completed, if a node that they may
-- have undone keeps its output. Reads only; called before the nodes are reset.
create function _qwf.notice_clean_up(p_run qwf.runs, p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_clean_up text;
  v_kept text[];
begin
  with recursive cleaned (idx, node_id) as (
    select j.node_idx, j.node_id from qwf.jobs j
    where j.run_id = p_run.id and j.parent_id is null and j.run_if = 'all_done'
      and j.status = 'completed'
  ), upstream (idx, from_idx) as (
    select c.idx, e.from_idx
    from cleaned c join qwf.graph_edges e on e.graph_id = p_run.graph_id and e.to_idx = c.idx
    union
    select u.idx, e.from_idx
    from upstream u
    join qwf.graph_edges e on e.graph_id = p_run.graph_id and e.to_idx = u.from_idx
  ), undone as (
    select c.node_id as clean_up, j.node_id as kept
    from cleaned c
    join upstream u on u.idx = c.idx
    join qwf.jobs j on j.run_id = p_run.id and j.node_idx = u.from_idx
    where j.status = 'completed' and j.run_if is null and not j.id = any (p_jobs)
  )
  select (select string_agg(distinct u.clean_up, ', ') from undone u),
    array(select distinct u.kept from undone u order by u.kept)
  into v_clean_up, v_kept;
  if v_clean_up is not null then
    raise notice using
      message = format('clean-up of run %s has completed: %s', p_run.id, left(v_clean_up, 500)),
      detail = format('these nodes are not run again: %s',
        left(array_to_string(v_kept, ', '), 500)),
      hint = format('if it has undone one of them, name that node: select qwf.retry_run(%s, %L)',
        p_run.id, v_kept[1]);
  end if;
end $$;
