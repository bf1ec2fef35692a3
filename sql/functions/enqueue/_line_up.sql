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
  v_run qwf.runs;
  v_job qwf.enqueued;
begin
  select r.* into v_run from qwf.runs r
  where r.id = p_run_id and r.finished_at is null
    and num_nonnulls(p_limit_by, p_max_attempts, p_backoff) > 0;
  if not found then  -- the usual case
    perform _qwf.insert_nodes(array[p_run_id], p_now);
    return;
  end if;
  v_job := _qwf.insert_job((null, 'qwf.run:' || v_run.workflow, '{}', 'qwf.runs', v_run.priority,
    v_run.run_at, null, p_max_attempts, p_backoff, null, null, null, '{}', p_limit_by, null, null,
    v_run.project, v_run.labels, false, false, null, null, null, null, null, false)::_qwf.new_job,
    _qwf.next_position(), p_now);
  update qwf.runs r set
    parent_id = v_job.job_id, open_nodes = 0, active_nodes = 0, deadline_at = null
  where r.id = p_run_id;
  if v_job.run_at is null then
    perform _qwf.wake('qwf.runs', 1);
    perform _qwf.apply_events('{}');
  end if;
end $$;

commit;
