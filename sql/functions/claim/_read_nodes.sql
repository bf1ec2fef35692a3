-- Deploy qwf:functions/claim/_read_nodes
-- Purpose: Reads what a claim has to know of picked nodes: of their runs, the folder, when it was
--   enqueued and whether one of them has not started; and whether inputs hold a reference.
-- Guarantees: Keeps the order; standalone jobs may be among them. Each row is found by its place or
--   its id (offset 0), whatever the statistics say.
-- Called by: claim.

begin;

create function _qwf.read_nodes(p_picked _qwf.picked[]) returns _qwf.nodes_read
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_memoize = off
as $$
declare
  v_read _qwf.nodes_read;
begin
  select
    array_agg((p.row, p.id, p.run_id, p.inputs, p.error, p.rare, r.out_dir, r.created_at
      )::_qwf.picked),
    bool_or(n.has_refs), bool_or(r.is_new)
    into v_read
  from unnest(p_picked) p
  left join lateral (
    select b.out_dir, b.created_at, b.started_at is null as is_new
    from qwf.runs b where b.id = p.run_id offset 0) r on true
  left join lateral (
    select j.graph_id, j.node_idx from qwf.jobs j where j.ctid = p.row offset 0) j on true
  left join lateral (
    select g.has_refs from qwf.graph_nodes g
    where g.graph_id = j.graph_id and g.idx = j.node_idx offset 0) n on true;
  return v_read;
end $$;

commit;
