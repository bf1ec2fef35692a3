-- Deploy qwf:functions/_count_nodes
-- requires: schema/types
-- requires: schema/runs
-- requires: functions/now
-- Purpose: Writes the counters of runs, and what follows from them: running, awaiting_input,
--   completed.
-- Guarantees: One update per run, whatever the number of events. A run that is over stays as it is;
--   one that is ending ends as was decided.
-- Locks: expects the runs locked by the caller.
-- Called by: _apply.

begin;

create function qwf._count_nodes(p_counts qwf.node_count[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_hashjoin = on
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_runs bigint[] := array(select distinct u.run_id from unnest(p_counts) u);
begin
  update qwf.runs r set
    open_nodes = r.open_nodes - d.closed,
    active_nodes = r.active_nodes + d.active,
    waiting_nodes = r.waiting_nodes + d.waiting,
    failed_nodes = r.failed_nodes + d.failed,
    (status, started_at, finished_at) = (
      select k.status, case when k.status <> 'queued' then coalesce(r.started_at, v_now) end,
        case when r.open_nodes = d.closed then v_now end
      from (select case
          when r.open_nodes = d.closed then coalesce(r.ending, 'completed')
          when r.active_nodes + d.active = 0 and r.waiting_nodes + d.waiting > 0
            then 'awaiting_input'
          when r.status = 'queued' and not d.started then 'queued'
          else 'running'
        end::qwf.run_status) k (status))
  from (
    select u.run_id, sum(u.closed)::int as closed, sum(u.active)::int as active,
      sum(u.waiting)::int as waiting, sum(u.failed)::int as failed, bool_or(u.started) as started
    from unnest(p_counts) u
    group by u.run_id
  ) d
  where r.id = any (v_runs)  -- by the index, whatever the statistics say
    and r.id = d.run_id and r.finished_at is null;
end $$;
comment on function qwf._count_nodes(qwf.node_count[]) is
  'Adds up changes to the counters of runs and sets the state that follows.';
revoke all on function qwf._count_nodes(qwf.node_count[]) from public;

commit;
