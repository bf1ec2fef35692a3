-- Deploy qwf:functions/enqueue/_line_up
-- Purpose: Inserts the nodes of a new run or, with a limit or tries of its own, lets it wait in
--   line: makes the job on the queue of runs for which it runs.
-- Guarantees: A run in line is queued and has no nodes until it is served; its deadline begins
--   then. It starts in this transaction if its limit has room. A run without nodes has completed
--   already.
-- Notifies: sleepers of the queues of the first nodes, if it starts now.
-- Called by: enqueue_run.

begin;

create function _qwf.line_up(
  p_run_id bigint, p_limit_by text, p_max_attempts int, p_backoff jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_later boolean;
begin
  if num_nonnulls(p_limit_by, p_max_attempts, p_backoff) = 0 then  -- the usual case
    perform _qwf.insert_nodes(array[p_run_id], p_now);
    return;
  end if;
  with job as (
    insert into qwf.jobs as j (
      queue, task, status, project, priority, position, run_at, queued_at, limit_by, limit_place,
      max_attempts, backoff, labels, created_at)
    select 'qwf.runs', 'qwf.run:' || r.workflow,
      case when r.run_at > p_now then 'scheduled' else 'queued' end::qwf.job_status,
      r.project, r.priority, case when r.run_at > p_now then null else _qwf.next_position() end,
      case when r.run_at > p_now then r.run_at end,
      case when r.run_at > p_now then null else p_now end,
      p_limit_by, _qwf.limit_place(p_limit_by),
      p_max_attempts, p_backoff, r.labels, p_now
    from qwf.runs r
    where r.id = p_run_id and r.finished_at is null
    returning j.id, j.status
  )
  update qwf.runs r set parent_id = j.id, open_nodes = 0, active_nodes = 0, deadline_at = null
  from job j
  where r.id = p_run_id
  returning j.status = 'scheduled' into v_later;
  if v_later is null then
    perform _qwf.insert_nodes(array[p_run_id], p_now);
  elsif not v_later then
    perform _qwf.wake('qwf.runs', 1);
    perform _qwf.apply_events('{}');
  end if;
end $$;

commit;
