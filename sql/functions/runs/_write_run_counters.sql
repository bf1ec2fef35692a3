-- Deploy qwf:functions/runs/_write_run_counters
-- Purpose: Writes the counters of runs, and the status that follows from them: running,
--   awaiting_input, completed.
-- Guarantees: The only writer of the counters of a live run; _reopen_run recounts after a retry.
--   One update per run, however many events. A run that is over does not change; a run that is
--   ending ends as was decided. Writes the event of a run that ends.
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
  with written as (
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
    where r.ctid = k.row
    returning r.id, r.workflow, r.status, r.started_at, r.finished_at, r.error
  )
  insert into _qwf.event_log (at, run_id, kind, subject, actor, detail)
  select w.finished_at, w.id, 'run_ended', w.workflow, session_user,
    _qwf.run_ended(w.status, w.started_at, w.finished_at, w.error)
  from written w
  where w.finished_at is not null;
end $$;

commit;
