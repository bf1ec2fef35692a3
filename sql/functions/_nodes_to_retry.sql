-- Deploy qwf:functions/_nodes_to_retry
-- requires: schema/runs
-- requires: schema/jobs
-- requires: schema/graphs
-- Purpose: The nodes a retry starts again.
-- Guarantees: Walks each edge once, level by level, in the order the graph was compiled in.
-- Raises: QW001 for a node the run does not have.
-- Called by: retry_run.

begin;

create function qwf._nodes_to_retry(p_run qwf.runs, p_from_node text) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first int[];
begin
  if p_from_node is null then
    v_first := array(
      select j.node_idx from qwf.jobs j
      where j.run_id = p_run.id and j.status in ('failed', 'cancelled'));
  else
    v_first := array(
      select n.idx from qwf.graph_nodes n
      where n.graph_id = p_run.graph_id and n.node_id = p_from_node);
    if cardinality(v_first) = 0 then
      raise exception using errcode = 'QW001', message = 'no such node',
        detail = format('run %s has no node %L', p_run.id, p_from_node),
        hint = format('see its nodes: '
          'select node_id from qwf.jobs where run_id = %s order by node_idx', p_run.id);
    end if;
  end if;
  return array(
    with recursive affected (idx) as (
      select f.idx from unnest(v_first) f (idx)
      union
      select e.to_idx
      from affected a join qwf.graph_edges e on e.graph_id = p_run.graph_id and e.from_idx = a.idx
    )
    select j.id
    from affected a join qwf.jobs j on j.run_id = p_run.id and j.node_idx = a.idx
    order by j.id);
end $$;
comment on function qwf._nodes_to_retry(qwf.runs, text) is
  'Jobs of the failed and cancelled nodes, or of the named node, and of everything downstream.';
revoke all on function qwf._nodes_to_retry(qwf.runs, text) from public;

commit;
