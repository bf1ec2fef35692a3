-- Deploy qwf:functions/change/cancel_run
-- Purpose: Cancels a run.
-- Guarantees: Nodes that are not running are cancelled in the caller's transaction; running bodies
--   are told once it commits, and killed after a grace period. The row of a running job is never
--   locked, however long the transaction stays open. Clean-up nodes (run_if all_done) of a run that
--   has started still run; cancel_job stops one. A run in line keeps its place until its bodies
--   have ended; if it waits there, its compensation does, too (see _end_run). A NOTICE tells that
--   a retry with other definitions or another context had not begun. A second call changes nothing.
-- Locks: the run, its waiting events; its nodes that are free and not running.
-- Notifies: workers that run a node of it.

begin;

create function qwf.cancel_run(run_id bigint, reason text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_run qwf.runs;
begin
  perform _qwf.check_text('reason', cancel_run.reason, 4096);
  perform _qwf.lock_runs(array[cancel_run.run_id]);
  select r.* into v_run from qwf.runs r where r.id = cancel_run.run_id;
  if not found then
    perform _qwf.raise_no_such_run(cancel_run.run_id);
  elsif v_run.status = 'cancelled' or (v_run.finished_at is null and v_run.ending is not null) then
    return false;
  elsif v_run.finished_at is not null then
    raise exception using errcode = 'QW002', message = 'the run is over',
      detail = format('run %s is %s', v_run.id, v_run.status),
      hint = 'there is nothing left to cancel';
  end if;
  if v_run.then_retry is not null or exists (
    select from qwf.jobs j
    where j.id = v_run.parent_id and j.run_id is null
      and j.inputs ?| array['context', 'graph_id'])
  then
    raise notice using message = format('the retry of run %s had not begun', v_run.id),
      detail = 'it keeps the definitions and the context that it has run with',
      hint = 'give them again with its next retry';
  end if;
  update qwf.runs r set then_retry = null  -- all is taken back, as of any run
  where r.id = v_run.id and r.then_retry is not null;
  perform _qwf.end_run(
    v_run.id, 'cancelled',
    'cancelled by ' || _qwf.spell_who(session_user, _qwf.acting_for())
      || coalesce(': ' || cancel_run.reason, ''));
  insert into _qwf.event_log (at, run_id, kind, detail)
  values (v_now, v_run.id, 'cancelled', jsonb_build_object('reason', cancel_run.reason));
  perform _qwf.apply_events(
    _qwf.take_events(array[v_run.id]) || array[(v_run.id, null, 'stop')::_qwf.event]);
  return true;
end $$;
comment on function qwf.cancel_run is
  'Cancels a run except its clean-up nodes. Returns true, or false if it is cancelled or ending '
  'already; QW001 no such run, QW002 it is completed or failed, QW005 a reason of more than 4 KiB.';
call _qwf.allow('qwf.cancel_run', 'qwf_producer');

commit;
