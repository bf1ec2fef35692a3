-- Deploy qwf:functions/claim/_resolve_inputs
-- Purpose: Resolves the references in the inputs of picked jobs, against outputs as they are now.
-- Guarantees: Keeps the order. Errors come back as values. Inputs without a reference, and the args
--   of standalone jobs, are not read. Each job and node is found by index (offset 0), whatever the
--   statistics say.
-- Called by: _make_running.

begin;

create function _qwf.resolve_inputs(p_picked _qwf.picked[]) returns _qwf.picked[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select (p.row, p.id, p.run_id, r.value, _qwf.resolution_error(r.error))::_qwf.picked
    from unnest(p_picked) with ordinality p ("row", id, run_id, inputs, error, ord)
    cross join lateral (
      select j.graph_id, j.node_idx from qwf.jobs j where j.id = p.id offset 0) j
    left join lateral (
      select v.value, v.error
      from (
        select n.inputs, n.ref_nodes, n.ref_files from qwf.graph_nodes n
        where n.graph_id = j.graph_id and n.idx = j.node_idx and n.has_refs offset 0) n
      cross join lateral _qwf.scope(p.run_id, n.ref_nodes, n.ref_files) s
      cross join lateral _qwf.resolve(n.inputs, s.scope) v
    ) r on true
    order by p.ord);
end $$;

commit;
