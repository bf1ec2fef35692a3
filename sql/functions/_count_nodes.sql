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
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  update qwf.runs r set
    open_nodes = n.open,
    active_nodes = n.active,
    waiting_nodes = n.waiting,
    failed_nodes = n.failed,
    status = n.status,
    started_at = case when n.status <> 'queued' then coalesce(r.started_at, v_now) end,
    finished_at = case when n.open = 0 then v_now end
  from (
    select c.id, c.open, c.active, c.waiting, c.failed, case
        when c.open = 0 then coalesce(c.ending, 'completed')
        when c.active = 0 and c.waiting > 0 then 'awaiting_input'
        when c.old_status = 'queued' and not c.started then 'queued'
        else 'running'
      end::qwf.run_status as status
    from (
      select a.id, a.status, a.ending, a.open_nodes - d.closed as open,
        a.active_nodes + d.active as active,
        a.waiting_nodes + d.waiting as waiting, a.failed_nodes + d.failed as failed, d.started
      from qwf.runs a
      join (
        select u.run_id, sum(u.closed)::int as closed, sum(u.active)::int as active,
          sum(u.waiting)::int as waiting, sum(u.failed)::int as failed,
          bool_or(u.started) as started
        from unnest(p_counts) u
        group by u.run_id
      ) d on d.run_id = a.id
      where a.finished_at is null
    ) c (id, old_status, ending, open, active, waiting, failed, started)
  ) n
  where r.id = n.id;
end $$;
comment on function qwf._count_nodes(qwf.node_count[]) is
  'Adds up changes to the counters of runs and sets the state that follows.';
revoke all on function qwf._count_nodes(qwf.node_count[]) from public;

commit;
