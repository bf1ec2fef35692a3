-- Deploy qwf:functions/mending/_reasons_to_run
-- Purpose: Returns the nodes of a graph, each with its job in a run that is over, and with the
--   first reason of its own why that run cannot reuse what it has of it.
-- Guarantees: changed is looked for before failed: a map that failed keeps its completed elements
--   only if nothing else is the matter with it. An element that is named stands for its map. What a
--   compensation node has taken back counts as undone; such a node itself has no reason. left_by
--   are the compensation nodes that have not taken back what a node has done, stuck: one of them
--   has failed. Reads
--   the context paths of a node only if the context is another one. Joins by hash, whatever the
--   statistics say: nested loops would compare each node with each job of the run.
-- Called by: _plan_retry.

begin;

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

commit;
