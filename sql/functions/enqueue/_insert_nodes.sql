-- Deploy qwf:functions/enqueue/_insert_nodes
-- Purpose: Inserts the jobs of new runs, one for each node of their graphs.
-- Guarantees: One statement, however many runs. A run without nodes has completed. Nodes without
--   dependencies are queued, or scheduled for run_at; a guarded node is opened now, or when it is
--   due. A compensation node is skipped until _end_run needs it.
-- Notifies: sleepers of the queues that got work.
-- Called by: _insert_children, _line_up, _resume_child.

begin;

create function _qwf.insert_nodes(p_runs bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_first _qwf.event[];
  v_queues text[];
begin
  with inserted as (
    insert into qwf.jobs as j (
      run_id, graph_id, node_idx, node_id, queue, task, status, project, priority,
      position, run_at, queued_at, inputs, input_spec, guarded, remaining_deps,
      options, required_model, light, vram_mb, requires, limit_by, limit_place,
      on_failure, run_if, login, acting_for, labels, created_at, finished_at, begun)
    select
      r.id, n.graph_id, n.idx, n.node_id, n.queue, n.task, k.status, r.project, r.priority,
      case when k.status = 'queued' then _qwf.next_position() end,
      case when k.status = 'scheduled' then r.run_at end,
      case when k.status = 'queued' then p_now end,
      n.inputs, n.input_spec, k.guarded, n.dep_count,
      n.options, n.required_model, n.light, n.vram_mb, n.requires, n.limit_by,
      _qwf.limit_place(n.limit_by),
      n.on_failure, n.run_if, null, null, r.labels, p_now,
      case when k.status = 'skipped' then p_now end, case when n.at_most_once then false end
    from qwf.runs r
    join qwf.graph_nodes n on n.graph_id = r.graph_id
    cross join lateral (
      select num_nonnulls(n.skip_if, n.input_spec, n.map, n.compensates, n.delay) > 0) g (guarded)
    cross join lateral (
      select g.guarded, case
          when n.compensates is not null then 'skipped'
          when n.dep_count > 0 then 'blocked'
          when r.run_at > p_now then 'scheduled'
          when g.guarded then 'blocked'
          else 'queued'
        end::qwf.job_status as status) k
    where r.id = any (p_runs) and r.finished_at is null
    order by r.id, n.idx
    returning j.id, j.run_id, j.status, j.remaining_deps, j.queue
  ), over as (
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select p_now, r.id, 'run_ended', r.workflow,
      _qwf.run_ended('completed', r.finished_at, r.finished_at, null, r.parent_id)
    from qwf.runs r
    where r.id = any (p_runs) and r.finished_at is not null
  )
  select
    array_agg((i.run_id, i.id, 'ready')::_qwf.event)
      filter (where i.status = 'blocked' and i.remaining_deps = 0),
    array_agg(i.queue) filter (where i.status = 'queued')
    into v_first, v_queues
  from inserted i;
  perform _qwf.wake(q, count(*)::int) from unnest(v_queues) q group by q;
  perform _qwf.apply_events(v_first);
end $$;

commit;
