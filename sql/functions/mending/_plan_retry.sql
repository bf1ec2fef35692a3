-- Deploy qwf:functions/mending/_plan_retry
-- Purpose: Plans the retry of a run that is over: which nodes are reused, which run again, which
--   are new and which are removed, and why.
-- Guarantees: The only place that decides it: retry_plan shows the rows, _mend_run acts on them. A
--   node runs again for a reason of its own, or because one before it is new or runs again. A map
--   resumes if its only reason is its own failure, or an element that was named: its completed
--   elements are reused. Compensation nodes are skipped again. If one is named, it runs again and
--   all else stays as it is. A map with elements that never had inputs does not: its list is read
--   again. Nor does a repeat that was not done after its last turn: it starts again from its first
--   turn, unless its max is now higher. p_completed: compensate opens the compensation nodes first
--   that have not taken back what runs again, and then all that they take back runs again.
-- Called by: retry_plan, _line_up_again, _mend_run.

begin;

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

commit;
