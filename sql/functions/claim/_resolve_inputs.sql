-- Deploy qwf:functions/claim/_resolve_inputs
-- Purpose: Resolves the inputs of jobs about to be handed out.
-- Guarantees: In the order given. Jobs are found by id one by one (offset 0), whatever the
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
    left join lateral _qwf.resolved_inputs(p.run_id, j.graph_id, j.node_idx) r on true
    order by p.ord);
end $$;

commit;
