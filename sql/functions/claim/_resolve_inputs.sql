-- Deploy qwf:functions/claim/_resolve_inputs
-- Purpose: Resolves the references in the inputs of picked jobs, against outputs as they are now,
--   and reads what a worker has to know of their runs.
-- Guarantees: Keeps the order. Errors come back as values, also what raises: then the rest is
--   resolved one by one, and only the job that raises gets the error. If the statement is cancelled
--   after two seconds or more, it has no time limit any more: the jobs before are handed out, those
--   after it stay queued, and a job that took two seconds by itself gets the error. Inputs without
--   a reference, and the args of standalone jobs, are not read. Each job and node is found by index
--   (offset 0), whatever the statistics say.
-- Raises: 57014 if it is cancelled sooner, or before it has resolved a job; errors that pass (see
--   _is_passing_error), except 53200 without a hint: one job that needs more memory than there is
--   would otherwise stop its queue. With a hint the memory for locks is full, which no job causes.
-- Called by: claim.

begin;

create function _qwf.resolve_inputs(p_picked _qwf.picked[]) returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_memoize = off
as $$
declare
  v_jobs _qwf.picked[] := p_picked;
  v_size int := cardinality(p_picked);
  v_next int := 1;
  v_first int;
  v_job record;
  v_start timestamptz := qwf.now();
  v_began timestamptz;
  v_slow boolean;
  v_hint text;
  v_found _qwf.resolution;
begin
  while v_next <= cardinality(p_picked) loop
    v_first := v_next;
    begin
      for v_job in
        select p.n, g.inputs, s.scope
        from unnest(p_picked[v_first : v_first + v_size - 1]) with ordinality p (
          "row", id, run_id, inputs, error, rare, out_dir, run_created_at, n)
        cross join lateral (
          select j.graph_id, j.node_idx from qwf.jobs j where j.ctid = p.row offset 0) j
        cross join lateral (
          select n.inputs, n.ref_nodes, n.ref_files from qwf.graph_nodes n
          where n.graph_id = j.graph_id and n.idx = j.node_idx and n.has_refs offset 0) g
        cross join lateral _qwf.scope(p.run_id, g.ref_nodes, g.ref_files) s
        order by p.n
      loop
        v_next := v_first + v_job.n - 1;
        v_began := qwf.now();
        v_found := _qwf.resolve(v_job.inputs, v_job.scope);
        v_jobs[v_next].inputs := v_found.value;
        v_jobs[v_next].error := _qwf.resolution_error(v_found.error);
        v_began := null;
        v_next := v_next + 1;
      end loop;
      v_next := v_first + v_size;
    exception
      when others or query_canceled then
        get stacked diagnostics v_hint = pg_exception_hint;
        v_slow := coalesce(qwf.now() - v_began >= '2 s', false);
        if _qwf.is_passing_error(sqlstate) and (sqlstate <> '53200' or v_hint <> '')
          or sqlstate = '57014' and not v_slow and (v_next = 1 or qwf.now() - v_start < '2 s')
        then
          raise;
        end if;
        exit when sqlstate = '57014' and not v_slow;
        if v_slow or v_size = 1 then
          v_jobs[v_next].error := _qwf.resolution_error(sqlstate || ' ' || left(sqlerrm, 500));
          v_next := v_next + 1;
          exit when sqlstate = '57014';
        end if;
        v_size := 1;
    end;
  end loop;
  return v_jobs[: v_next - 1];
end $$;

commit;
