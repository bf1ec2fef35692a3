-- Deploy qwf:functions/queues/_check_limits
-- Purpose: Refuses to start nodes whose limit was dropped after they were compiled.
-- Raises: QW001.
-- Called by: _check_mending, enqueue_run.

begin;

create function _qwf.check_limits(p_graph bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.check_limit(format('node %s, ', n.node_id), n.limit_by)
  from qwf.graph_nodes n
  where n.graph_id = p_graph and n.limit_by is not null;
end $$;

commit;
