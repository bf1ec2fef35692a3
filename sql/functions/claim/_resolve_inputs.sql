-- Deploy qwf:functions/claim/_resolve_inputs
-- Purpose: Resolves the references in the inputs of picked jobs, against outputs as they are now,
--   and reads what a worker has to know of their runs.
-- Guarantees: Keeps the order. Errors become values, also what raises: only the job that raises
--   gets the error, and fails. If the statement is cancelled after two seconds or more, it has no
--   time limit any more: the jobs before are handed out, those after it stay queued, and a job that
--   took two seconds by itself fails. Inputs without a reference, and the args of standalone jobs,
--   are not read. Each row is found by its place or its id, whatever the statistics say (offset 0).
-- Raises: 57014 if it is cancelled sooner, or before it has resolved a job; errors that pass (see
--   _is_passing_error), except 53200 without a hint: one job that needs more memory than there is
--   would otherwise stop its queue. With a hint the memory for locks is full, which no job causes.
-- Called by: _serve_runs, claim.

begin;

create function _qwf.resolve_inputs(p_picked _qwf.picked[], p_worker text, p_now timestamptz)
returns _qwf.nodes_read
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_memoize = off
as $$
declare
  v_is_new boolean; v_is_bad boolean := false;
  v_jobs _qwf.picked[];
  v_refs qwf.graph_nodes[];
  v_node qwf.graph_nodes;
  v_next int := 1;
  v_start timestamptz := qwf.now(); v_began timestamptz;
  v_slow boolean;
  v_hint text;
  v_found _qwf.resolution;
  v_runs bigint[];
begin
  select
    array_agg((p.row, p.id, p.run_id, null, null, null, r.out_dir, r.created_at)::_qwf.picked),
    bool_or(r.is_new), case when bool_or(n.has_refs) then array_agg(n.node) end
    into v_jobs, v_is_new, v_refs from unnest(p_picked) p
  left join lateral (select b.out_dir, b.created_at, b.started_at is null as is_new
    from qwf.runs b where b.id = p.run_id offset 0) r on true
  cross join lateral (
    select j.graph_id, j.node_idx from qwf.jobs j where j.ctid = p.row offset 0) j
  left join lateral (select g as node, g.has_refs from qwf.graph_nodes g
    where g.graph_id = j.graph_id and g.idx = j.node_idx and g.has_refs offset 0) n on true;
  while v_next <= cardinality(v_refs) loop
    begin
      while v_next <= cardinality(v_refs) loop
        v_node := v_refs[v_next];
        v_began := qwf.now();
        if v_node.has_refs then
          v_found := _qwf.resolve(v_node.inputs, (select case when v_node.compensates is null
              then s.scope else s.scope || _qwf.done_of_maps(
                v_jobs[v_next].run_id, v_node.graph_id, v_node.compensates) end
            from _qwf.scope(v_jobs[v_next].run_id, v_node.ref_nodes, v_node.ref_files,
              v_node.reads_run) s));
          v_jobs[v_next].inputs := v_found.value;
          v_jobs[v_next].error := _qwf.resolution_error(v_found.error);
          v_is_bad := v_is_bad or v_found.error is not null;
        end if;
        v_next := v_next + 1;
      end loop;
    exception
      when others or query_canceled then
        get stacked diagnostics v_hint = pg_exception_hint;
        v_slow := coalesce(qwf.now() - v_began >= '2 s', false);
        if _qwf.is_passing_error(sqlstate) and (sqlstate <> '53200' or v_hint <> '')
          or sqlstate = '57014' and not v_slow and (v_next = 1 or qwf.now() - v_start < '2 s')
        then raise; end if;
        if sqlstate <> '57014' or v_slow then
          v_jobs[v_next].error := _qwf.resolution_error(sqlstate || ' ' || left(sqlerrm, 500));
          v_is_bad := true;
          v_next := v_next + 1;
        end if;
        exit when sqlstate = '57014';
    end;
  end loop;
  if v_refs is not null then v_jobs := v_jobs[: v_next - 1]; end if;
  if v_is_new then v_runs := array(select p.run_id from unnest(v_jobs) p); end if;
  if v_is_bad then v_jobs := _qwf.fail_unresolved(v_jobs, p_worker, p_now); end if;
  return (v_jobs, v_runs)::_qwf.nodes_read;
end $$;

commit;
