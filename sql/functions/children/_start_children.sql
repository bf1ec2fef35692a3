-- Deploy qwf:functions/children/_start_children
-- Purpose: Starts the new runs of the jobs at the head of a list that was picked from the queue of
--   runs: steps of runs that had no run before, whose inputs fit.
-- Guarantees: Ends before the first job that needs more (see _serve_run), or with the job with
--   which the runs have p_nodes rows of nodes. All in one subtransaction. If it fails, none has
--   started: count is 0, and _serve_run tells which job is to blame.
-- Locks: the caller has locked the jobs.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: errors that pass (see _is_passing_error).
-- Called by: _serve_runs.

begin;

create function _qwf.start_children(
  p_picked _qwf.picked[], p_nodes int, p_secret bytea, p_now timestamptz)
returns _qwf.started_children
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_jobs bigint[];
  v_graphs bigint[];
  v_contexts jsonb[];
  v_nodes int;
begin
  with found as materialized (
    select p.n, j.id, coalesce(p.inputs, j.inputs) as context, g.graph_id, g.node_count,
      g.inputs, g.context_checks, j.status = 'queued' and g.graph_id is not null and not exists (
        select from qwf.runs r where r.parent_id = j.id) as is_new
    from unnest(p_picked) with ordinality p (
      "row", id, run_id, inputs, error, rare, out_dir, run_created_at, n)
    cross join lateral (  -- offset 0: each by its id, whatever the statistics say
      select b.id, b.status, b.inputs, b.graph_id, b.node_idx, b.parent_id
      from qwf.jobs b where b.id = p.id offset 0) j
    left join qwf.jobs m on m.id = j.parent_id
    left join lateral (
      select g.id as graph_id, g.node_count, g.inputs, g.context_checks
      from qwf.graph_nodes d join qwf.graphs g on g.id = d.child_graph_id
      where d.graph_id = j.graph_id and d.idx = coalesce(j.node_idx, m.node_idx)) g on true
  ), fit as (
    select f.*,
      bool_and(f.is_new and case
        when f.inputs is null and not exists (  -- the usual case
          select from jsonb_array_elements(f.context_checks) c
          where not c ? 'later' and (c ? 'value' or f.context #> array(
            select jsonb_array_elements_text(c -> 'needs')) is null)) then true
        else not exists (select from _qwf.context_problems(f.graph_id, f.context)) end
        ) over w as is_head,
      sum(f.node_count) over w - f.node_count < p_nodes as has_room
    from found f
    window w as (order by f.n)
  )
  select array_agg(f.id order by f.n), array_agg(f.graph_id order by f.n),
    array_agg(f.context order by f.n), sum(f.node_count)
    into v_jobs, v_graphs, v_contexts, v_nodes
  from fit f
  where f.is_head and f.has_room;
  begin
    perform _qwf.start_attempts(v_jobs, v_contexts, p_secret, p_now) where v_jobs is not null;
    return (coalesce(cardinality(v_jobs), 0), coalesce(v_nodes, 0), case when v_jobs is not null
      then _qwf.insert_children(v_jobs, v_graphs, v_contexts, p_now) end)::_qwf.started_children;
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then raise; end if;
      return (0, 0, null)::_qwf.started_children;
  end;
end $$;

commit;
