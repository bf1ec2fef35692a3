-- Deploy qwf:functions/_end_runs
-- requires: schema/types
-- requires: schema/runs
-- requires: schema/jobs
-- requires: functions/_stop_nodes
-- requires: functions/now
-- Purpose: Ends runs of which a node failed or was cancelled.
-- Guarantees: The first node says why; what is queued is cancelled, what runs is told to stop. Runs
--   that are over stay as they are.
-- Locks: expects the runs locked by the caller; jobs of those runs where they are free.
-- Notifies: workers that have to stop.
-- Called by: _apply.

begin;

create function qwf._end_runs(p_events qwf.event[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_ended bigint[];
begin
  with cause as (
    select distinct on (e.run_id) e.run_id, e.kind, j.node_id, j.last_error
    from unnest(p_events) e join qwf.jobs j on j.id = e.job_id
    where e.kind in ('failed', 'cancelled')
    order by e.run_id, j.finished_at, j.id
  ), ended as (
    update qwf.runs r set
      status = c.kind::qwf.run_status,
      finished_at = v_now,
      started_at = coalesce(r.started_at, v_now),
      error = format('%s %s', c.node_id, case when c.kind = 'failed'
        then 'failed: ' || left(split_part(c.last_error, E'\n', 1), 500) else 'was cancelled' end)
    from cause c
    where r.id = c.run_id and r.finished_at is null
    returning r.id
  )
  select array_agg(e.id) into v_ended from ended e;
  if v_ended is not null then
    perform qwf._stop_nodes(v_ended);
  end if;
end $$;
comment on function qwf._end_runs(qwf.event[]) is
  'Fails or cancels the runs of nodes that failed or were cancelled, and stops their other nodes.';
revoke all on function qwf._end_runs(qwf.event[]) from public;

commit;
