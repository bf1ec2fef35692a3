-- Deploy qwf:functions/mending/_line_up_again
-- Purpose: Lets a run that had waited in line, and is over, wait in line once more, by the plan of
--   its retry.
-- Guarantees: Returns the plan, or null if the run never waited in line: then nothing has changed.
--   Its nodes, its graph and its context stay as they are until it is served: what the retry asks
--   for waits in the inputs of its job (see _serve_run). The budget of the run starts again. It
--   starts in this transaction if its limit has room.
-- Locks: the caller has locked the run; its limit, against being dropped; the job for which it
--   runs; the firings of schedules that enqueued it.
-- Raises: QW001 if its limit has been dropped; QW008 if another live run has taken its key;
--   QW002 if a compensation node of a run below failed, or if a body that runs at most once may
--   have run and is not in p_named.
-- Called by: retry_run.

begin;

create function _qwf.line_up_again(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text,
  p_named text[] default null, p_completed text default null)
returns _qwf.planned[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_plan _qwf.planned[];
begin
  if not exists (select from qwf.jobs j where j.id = p_run.parent_id and j.run_id is null) then
    return null;
  end if;
  v_plan := array(select p from _qwf.plan_retry(p_run, p_graph, p_context, p_from_node,
    p_completed) p);
  if not exists (select from unnest(v_plan) p where p.verdict in ('new', 'runs again'))
    and p_run.node_count > 0
  then
    return '{}';
  end if;
  perform _qwf.lock_limits(j.limit_by) from qwf.jobs j where j.id = p_run.parent_id;
  perform _qwf.check_limit('', j.limit_by) from qwf.jobs j where j.id = p_run.parent_id;
  perform _qwf.refuse_below(p_run.id, v_plan, p_from_node),
    _qwf.refuse_maybe_run(p_run, p_graph, v_plan, p_from_node, p_named),
    _qwf.notice_clean_up(p_run, array(
      select p.job_id from unnest(v_plan) p where p.verdict = 'runs again'));
  update qwf.runs r set status = 'queued', started_at = null, finished_at = null, ending = null,
    error = null, deadline_at = null
  where r.id = p_run.id;
  update qwf.jobs j set status = 'queued', position = _qwf.next_position(), queued_at = v_now,
    finished_at = null, retries = j.retries + 1, failures = 0, losses = 0, run_at = null,
    inputs = jsonb_strip_nulls(jsonb_build_object(
      'graph_id', nullif(p_graph, p_run.graph_id), 'from_node', p_from_node,
      'completed', nullif(p_completed, 'keep')))
      || case when p_context <> p_run.context
        then jsonb_build_object('context', p_context) else '{}' end
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
