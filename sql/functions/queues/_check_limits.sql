-- Deploy qwf:functions/queues/_check_limits
-- Purpose: Refuses to start nodes whose limit was dropped after they were compiled, and nodes that
--   need a limit of which their run holds a place (p_held): it would wait for itself.
-- Raises: QW001; QW005 for a limit inside itself.
-- Called by: _check_mending, enqueue_run.

begin;

create function _qwf.check_limits(p_graph bigint, p_held text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inside text := case when p_held <> '{}' then _qwf.limit_inside(p_graph, p_held) end;
begin
  if v_inside is not null then
    raise exception using errcode = 'QW005', message = 'a limit inside itself',
      detail = format('%s needs limit %s, of which the run would hold a place until it ends',
        v_inside, array_to_string(p_held, ', ')),
      hint = 'give the run another limit_by, or none, or register the workflow without that one';
  end if;
  perform _qwf.check_limit(format('node %s, ', n.node_id), n.limit_by)
  from qwf.graph_nodes n
  where n.graph_id = p_graph and n.limit_by is not null;
end $$;

commit;
