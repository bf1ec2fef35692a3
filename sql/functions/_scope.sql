-- Deploy qwf:functions/_scope
-- requires: schema/jobs
-- requires: schema/history
-- Purpose: What the references of one node can see.
-- Guarantees: Only the nodes and files its graph node names are read; outputs of skipped nodes are
--   absent, those of nodes that failed and were let go are null.
-- Called by: _open_guarded, _resolved_inputs, whose settings hold here: each setting costs a call.

begin;

create function qwf._scope(p_run_id bigint, p_nodes int[], p_files text[]) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope jsonb;
begin
  select jsonb_build_object('$context', r.context) || coalesce(o.outputs, '{}') into v_scope
  from qwf.runs r
  cross join lateral (
    select jsonb_object_agg(j.node_id, coalesce(j.output, 'null')) as outputs
    from unnest(p_nodes) n (idx)
    cross join lateral (  -- offset: each by the index, however many nodes the run has
      select j.* from qwf.jobs j where j.run_id = p_run_id and j.node_idx = n.idx offset 0) j
    where j.output is not null or j.status in ('failed', 'cancelled')
  ) o
  where r.id = p_run_id;
  if cardinality(p_files) > 0 then
    v_scope := v_scope || jsonb_build_object('$files', (
      select jsonb_object_agg(k.key, (
        select coalesce(jsonb_agg(jsonb_build_object(
          'rel_path', f.rel_path, 'kind', f.kind, 'size_bytes', f.size_bytes, 'host', f.host)
          order by f.rel_path), '[]')
        from qwf.run_files f
        where f.run_id = p_run_id and (
          f.node_id = k.key or f.node_id ^@ (k.key || '/') or f.node_id ^@ (k.key || '['))))
      from unnest(p_files) k (key)));
  end if;
  return v_scope;
end $$;
comment on function qwf._scope(bigint, int[], text[]) is
  'Values that references of a node read: outputs by node id, $context, and $files by step or '
  'node.';
revoke all on function qwf._scope(bigint, int[], text[]) from public;

commit;
