-- Deploy qwf:functions/mending/_line_up_again
-- Purpose: Lets a run that had waited in line, and is over, wait in line once more, by the plan of
--   its retry.
-- Guarantees: Returns the plan, or null if the run never waited in line: then nothing has changed.
--   It has the graph and the context of the plan from now on. What runs again counts as cancelled
--   until it runs; a map that runs again as a whole has lost its elements. The budget of the run
--   starts again. It starts in this transaction if its limit has room.
-- Locks: the caller has locked the run; its limit, against being dropped; the job for which it
--   runs; the firings of schedules that enqueued it.
-- Raises: QW001 if its limit has been dropped; QW008 if another live run has taken its key;
--   QW002 if a compensation node of a run below failed, or if a body that runs at most once may
--   have run and is not in p_named.
-- Called by: retry_run.

begin;

create function _qwf.line_up_again(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text,
  p_named text[] default null)
returns _qwf.planned[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_plan _qwf.planned[];
  v_again bigint[];
  v_anew bigint[];
begin
  if not exists (select from qwf.jobs j where j.id = p_run.parent_id and j.run_id is null) then
    return null;
  end if;
  v_plan := array(select p from _qwf.plan_retry(p_run, p_graph, p_context, p_from_node) p);
  if not exists (select from unnest(v_plan) p where p.verdict in ('new', 'runs again'))
    and p_run.node_count > 0
  then
    return '{}';
  end if;
  v_again := array(select p.job_id from unnest(v_plan) p where p.verdict = 'runs again');
  v_anew := array(select p.job_id from unnest(v_plan) p where p.anew);
  perform _qwf.hold_limits(j.limit_by) from qwf.jobs j where j.id = p_run.parent_id;
  perform _qwf.check_limit('', j.limit_by) from qwf.jobs j where j.id = p_run.parent_id;
  perform _qwf.refuse_below(p_run.id, v_plan, p_from_node),
    _qwf.refuse_maybe_run(p_run.id, v_plan, p_from_node, p_named);
  if p_from_node is not null then
    perform _qwf.forget_compensations(p_run.id, p_from_node);
  end if;
  perform _qwf.notice_clean_up(p_run, v_again), _qwf.drop_checkpoints(p_run, v_anew, p_from_node),
    _qwf.move_run(p_run, p_graph, p_context), _qwf.skip_compensations(v_plan),
    _qwf.delete_runs_below(array(select j.id from qwf.jobs j where j.parent_id = any (v_anew))),
    _qwf.delete_jobs(array(select j.id from qwf.jobs j where j.parent_id = any (v_anew)));
  update qwf.jobs j set status = 'cancelled', finished_at = coalesce(j.finished_at, v_now),
    elements = case when j.id <> all (v_anew) then j.elements end
  where j.run_id = p_run.id and (j.id = any (v_again) and j.status <> 'failed'
    or j.status = 'blocked' or j.node_id = p_from_node);
  update qwf.runs r set status = 'queued', started_at = null, finished_at = null, ending = null,
    error = null, deadline_at = null
  where r.id = p_run.id;
  update qwf.jobs j set status = 'queued', position = _qwf.next_position(), queued_at = v_now,
    finished_at = null, failures = 0, losses = 0, run_at = null
  where j.id = p_run.parent_id;
  update qwf.firings f set result = null, ended_at = null, reopened = true
  where f.run_id = p_run.id;
  perform _qwf.wake('qwf.runs', 1), _qwf.apply_events('{}');
  return v_plan;
exception
  when unique_violation then
    raise exception using errcode = 'QW008', message = 'the key of the run is taken',
      detail = format('key %L of workflow %s in project %L',
        p_run.key, p_run.workflow, p_run.project),
      hint = 'another run with this key is live: wait for it or cancel it, then retry';
end $$;

commit;
