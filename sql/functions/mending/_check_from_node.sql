-- Deploy qwf:functions/mending/_check_from_node
-- Purpose: Refuses to retry a run from a node that the graph does not have. An element of a map is
--   named by its own id.
-- Raises: QW001.
-- Called by: _check_mending, _refuse_maybe_run.

begin;

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

commit;
