-- Deploy qwf:functions/runs/_done_of_maps
-- Purpose: Returns, for the nodes that a compensation node takes back, the lists of the maps among
--   them that did not complete: the outputs of the elements that did, null for the others. Other
--   nodes read null from such a map.
-- Guarantees: Bounded as the list of a map that completed.
-- Raises: QW005 if the outputs are too large together: the compensation node fails with it.
-- Called by: _open_guarded, _resolve_inputs.

begin;

create function _qwf.done_of_maps(p_run bigint, p_graph bigint, p_nodes text[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_map record;
  v_lists jsonb := '{}';
begin
  for v_map in
    select j.id, j.node_id, s.max_value_bytes * 16::bigint as most
    from qwf.graph_nodes n
    join qwf.jobs j on j.run_id = p_run and j.node_idx = n.idx
    cross join qwf.settings s
    where n.graph_id = p_graph and n.node_id = any (p_nodes) and n.repeat is null
      and j.elements is not null and j.status in ('failed', 'cancelled')
  loop
    if v_map.most < (
      select sum(octet_length(e.output::text)) from qwf.jobs e where e.parent_id = v_map.id)
    then
      raise exception using errcode = 'QW005',
        message = format('the outputs of the elements of %s are too large together', v_map.node_id),
        hint = 'write files and return their paths';
    end if;
    v_lists := v_lists || (
      select jsonb_build_object(v_map.node_id,
        coalesce(jsonb_agg(case when e.status = 'completed' then e.output end order by e.element)
          filter (where e.id is not null), '[]'))
      from qwf.jobs e where e.parent_id = v_map.id);
  end loop;
  return v_lists;
end $$;

commit;
