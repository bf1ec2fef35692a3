-- Deploy qwf:functions/references/_scope
-- Purpose: Returns what the references of one node can see.
-- Guarantees: Reads only the nodes and files that the graph node names, each by an index, however
--   many the run has; all nodes for one that reads its run. Outputs of skipped nodes are absent;
--   those of failed or cancelled nodes are null. Of its run a node sees how it ends, which is null
--   while that is open. Inlined into the query of its caller, but not what only few nodes read:
--   files and the run.
-- Called by: _next_turn, _open_guarded, _resolve_inputs, _run_outcome, _turn_verdict.

begin;

create function _qwf.scope(p_run_id bigint, p_nodes int[], p_files text[], p_reads_run boolean)
returns table (scope jsonb)
language sql stable rows 1
as $$
  select jsonb_build_object('$context', r.context) || coalesce(o.outputs, '{}')
    || case when cardinality(p_files) = 0 then '{}' else _qwf.files_in_scope(p_run_id, p_files) end
    || case when p_reads_run then _qwf.run_in_scope(p_run_id) else '{}' end
  from qwf.runs r
  cross join lateral (
    select jsonb_object_agg(d.node_id, coalesce(d.output, 'null')) as outputs
    from unnest(p_nodes) n (idx)
    cross join lateral (  -- offset: uses the index, whatever the statistics say
      select j.node_id, j.output, j.status from qwf.jobs j
      where j.run_id = p_run_id and j.node_idx = n.idx offset 0) d
    where d.output is not null or d.status in ('failed', 'cancelled')
  ) o
  where r.id = p_run_id
$$;

commit;
