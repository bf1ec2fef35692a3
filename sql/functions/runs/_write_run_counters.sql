-- Deploy qwf:functions/runs/_write_run_counters
-- Purpose: Writes the counters of runs, and the status that follows from them: running,
--   awaiting_input, completed.
-- Guarantees: The only writer of the counters of a live run; _reopen_run recounts after a retry.
--   One update per run, however many events. A run that is over does not change; a run that is
--   ending ends as was decided.
-- Locks: the caller has locked the runs.
-- Called by: _apply_events.

begin;

create function _qwf.write_run_counters(p_counts _qwf.node_count[]) returns void
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
    open_nodes = r.open_nodes - d.closed,
    active_nodes = r.active_nodes + d.active,
    waiting_nodes = r.waiting_nodes + d.waiting,
    failed_nodes = r.failed_nodes + d.failed,
    status = k.status,
    started_at = case when k.status <> 'queued' then coalesce(r.started_at, v_now) end,
    finished_at = case when k.status in ('completed', 'failed', 'cancelled') then v_now end
  from (
    select u.run_id, sum(u.closed)::int as closed, sum(u.active)::int as active,
      sum(u.waiting)::int as waiting, sum(u.failed)::int as failed, bool_or(u.started) as started
    from unnest(p_counts) u
    group by u.run_id
  ) d
  cross join lateral (  -- offset 0: each by its id, whatever the statistics say
    select b.ctid as row, case
        when b.open_nodes = d.closed then coalesce(b.ending, 'completed')
        when b.active_nodes + d.active = 0 and b.waiting_nodes + d.waiting > 0
          then 'awaiting_input'
        when b.status = 'queued' and not d.started then 'queued'
        else 'running'
      end::qwf.run_status as status
    from qwf.runs b where b.id = d.run_id and b.finished_at is null offset 0) k
  where r.ctid = k.row;
end $$;

commit;
