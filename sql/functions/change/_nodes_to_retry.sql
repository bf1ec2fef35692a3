-- Deploy qwf:functions/change/_nodes_to_retry
-- Purpose: Returns the nodes of a run that is over which have to run again.
-- Guarantees: Failed and cancelled nodes are always among them, as the run could not complete
--   otherwise, and all nodes downstream. An element stands for its map.
-- Raises: QW001 no such node.
-- Called by: _line_up_again, _retry_nodes.

begin;

create function _qwf.nodes_to_retry(p_run qwf.runs, p_from_node text) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first int;
begin
  if p_from_node is not null then
    select coalesce(m.node_idx, j.node_idx) into v_first
    from qwf.jobs j left join qwf.jobs m on m.id = j.parent_id
    where j.run_id = p_run.id and j.node_id = p_from_node;
    if not found then
      raise exception using errcode = 'QW001', message = 'no such node',
        detail = format('run %s has no node %L', p_run.id, left(p_from_node, 200)),
        hint = coalesce(
          _qwf.did_you_mean(p_from_node, array(
            select n.node_id from qwf.graph_nodes n where n.graph_id = p_run.graph_id)),
          format('see its nodes: select node_id from qwf.jobs where run_id = %s order by node_idx',
            p_run.id));
    end if;
  end if;
  return array(
    with recursive affected (idx) as (
      select j.node_idx from qwf.jobs j
      where j.run_id = p_run.id and j.node_idx is not null
        and (j.status in ('failed', 'cancelled') or j.node_idx = v_first)
      union
      select e.to_idx
      from affected a join qwf.graph_edges e on e.graph_id = p_run.graph_id and e.from_idx = a.idx
    )
    select j.id
    from affected a join qwf.jobs j on j.run_id = p_run.id and j.node_idx = a.idx
    order by j.id);
end $$;

commit;
