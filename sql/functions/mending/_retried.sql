-- Deploy qwf:functions/mending/_retried
-- Purpose: Returns the detail of the event of a retry: from which node, how many nodes run, and for
--   a run that moved, its versions and the nodes that are gone.
-- Guarantees: old_context has the values that others have replaced. Names at most 100 nodes.
-- Called by: retry_run.

begin;

create function _qwf.retried(
  p_run qwf.runs, p_graph bigint, p_from_node text, p_changes jsonb, p_plan _qwf.planned[])
returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
      'from_node', p_from_node,
      'nodes', (
        select count(*) from unnest(p_plan) p where p.verdict in ('new', 'runs again')),
      'removed', (
        select jsonb_agg(p.node_id order by p.node_id)
        from (
          select u.node_id from unnest(p_plan) u where u.verdict = 'removed'
          order by u.node_id limit 100) p)))
    || case when p_graph = p_run.graph_id then '{}' else (
      select jsonb_build_object('version', w.version, 'old_version', p_run.workflow_version)
      from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
      where g.id = p_graph) end
    || coalesce((
      select jsonb_build_object('old_context', jsonb_object_agg(k, p_run.context -> k))
      from jsonb_object_keys(p_changes) k
      where p_run.context -> k is distinct from p_changes -> k
      having count(*) > 0), '{}')
$$;

commit;
