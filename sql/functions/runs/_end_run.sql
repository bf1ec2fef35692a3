-- Deploy qwf:functions/runs/_end_run
-- Purpose: Decides how a live run ends if it does not complete: failed or cancelled.
-- Guarantees: The first decision stands. A run with clean-up nodes that have not ended keeps
--   running until they have, unless none of its nodes ever started; with p_at_once it ends without
--   them. So it does with compensation nodes, which it wakes. A run in line keeps its place until
--   its bodies have ended, too; one that waits there and has something to take back goes on
--   waiting (see _resume_child). p_ended: nodes whose end the caller has yet to subtract. A run
--   that is over counts no node as open. Writes the event of a run that ends.
-- Locks: the caller has locked the run.
-- Called by: _end_failed_runs, cancel_run, _fail_overdue_runs, _go_on, _resume_child,
--   _retry_or_poison_events, _serve_runs, _stop_children.

begin;

create function _qwf.end_run(
  p_run bigint, p_status qwf.run_status, p_error text, p_at_once boolean default false,
  p_ended bigint[] default '{}')
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_found boolean;
  v_place qwf.job_status := (  -- null: it is not in line
    select j.status from qwf.runs r join qwf.jobs j on j.id = r.parent_id and j.run_id is null
    where r.id = p_run);
  v_waits boolean := coalesce(v_place in ('queued', 'scheduled'), false);
  v_woken _qwf.node_count := case when not p_at_once
    then _qwf.wake_compensations(p_run, p_ended, v_waits) end;
  v_clean_up boolean := not p_at_once and (v_woken is not null
    or exists (  -- not r.started_at: a claim sets it only if the run is not locked
      select from qwf.jobs j where j.run_id = p_run and j.attempt > 0)
    and exists (
      select from qwf.jobs j
      where j.run_id = p_run and (j.run_if is not null or v_place = 'running')
        and j.finished_at is null));
begin
  with written as (
    update qwf.runs r set
      status = case when not v_clean_up then coalesce(r.ending, p_status)
        when v_waits then r.status else 'running' end,
      ending = coalesce(r.ending, case when v_clean_up then p_status end),
      error = coalesce(r.error, p_error), then_retry = null,
      started_at = case when not v_waits or not v_clean_up
        then coalesce(r.started_at, v_now) end,
      finished_at = case when not v_clean_up then v_now end,
      open_nodes = case when v_clean_up
        then r.open_nodes - coalesce(v_woken.closed, 0) else 0 end,
      active_nodes = case when v_clean_up
        then r.active_nodes + coalesce(v_woken.active, 0) else 0 end,
      waiting_nodes = case when v_clean_up then r.waiting_nodes else 0 end
    where r.id = p_run and r.finished_at is null and (r.ending is null or p_at_once)
    returning r.id, r.workflow, r.status, r.started_at, r.finished_at, r.error, r.parent_id
  ), ended as (
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select w.finished_at, w.id, _qwf.end_kind(w.status, w.parent_id), w.workflow,
      _qwf.run_ended(w.status, w.started_at, w.finished_at, w.error, w.parent_id)
        || _qwf.not_taken_back(w.id, w.status)
    from written w
    where w.finished_at is not null
  )
  select count(*) > 0 into v_found from written w;
  return v_found;
end $$;

commit;
