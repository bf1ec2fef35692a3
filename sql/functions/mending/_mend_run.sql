-- Deploy qwf:functions/mending/_mend_run
-- Purpose: Lets a run that is over, or that only waits for answers, go on by the plan of its retry.
-- Guarantees: Acts on the rows that retry_plan shows for the same arguments, read again under the
--   run's lock. If nothing of the plan runs, nothing changes, and the result is empty. What the
--   plan takes back first opens alone: the rest waits in then_retry until that has completed (see
--   _go_on).
-- Locks: the caller has locked the run, of which no body runs.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW008; QW002 if a compensation node of a run below failed, or if a body that runs at most
--   once may have run and is not in p_named.
-- Called by: retry_run, _go_on, _resume_child.

begin;

create function _qwf.mend_run(
  p_run qwf.runs, p_graph bigint, p_context jsonb, p_from_node text,
  p_named text[] default null, p_completed text default null)
returns _qwf.planned[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_plan _qwf.planned[] := array(
    select p from _qwf.plan_retry(p_run, p_graph, p_context, p_from_node, p_completed) p);
  v_first bigint[] := array(select p.job_id from unnest(v_plan) p where p.verdict = 'runs first');
  v_again bigint[] := array(
    select p.job_id from unnest(v_plan) p where p.verdict = 'runs again' order by p.job_id);
  v_anew bigint[] := array(select p.job_id from unnest(v_plan) p where p.anew);
  v_resumed bigint[] := array(select p.job_id from unnest(v_plan) p where p.resumes);
  v_skipped bigint[] := array(  -- compensation nodes
    select j.id from unnest(v_plan) p join qwf.jobs j on j.id = p.job_id
    where p.verdict = 'skipped' and j.status <> 'skipped');
begin
  if not exists (select from unnest(v_plan) p where p.verdict in ('new', 'runs again')) then
    return '{}';
  end if;
  perform _qwf.refuse_below(p_run.id, v_plan, p_from_node);
  if p_named is not null then  -- else whoever asked for this retry was refused or has named it
    perform _qwf.refuse_maybe_run(p_run, p_graph, v_plan, p_from_node, p_named);
  end if;
  if p_run.parent_id is null and p_run.finished_at is not null then  -- else a worker would be told
    perform _qwf.notice_clean_up(p_run, v_again);
  end if;
  -- the run is over: its events, poisoned ones included, no longer matter
  delete from qwf.outbox o where o.run_id = p_run.id;
  delete from qwf.waits w where p_run.status = 'awaiting_input' and w.job_id = any (v_again);
  update qwf.runs r set then_retry = case when v_first <> '{}' then jsonb_strip_nulls(
      jsonb_build_object('graph_id', p_graph, 'from_node', p_from_node))
      || jsonb_build_object('context', p_context) end
  where r.id = p_run.id and (v_first <> '{}' or r.then_retry is not null);
  if v_first <> '{}' then
    perform _qwf.reset_nodes(v_first);
  else
    if p_from_node is not null then
      perform _qwf.forget_compensations(p_run.id, p_from_node);
    end if;
    -- what begins anew; a node that is written as it was goes on from its checkpoint
    delete from qwf.checkpoints c using qwf.jobs j
    where j.run_id = p_run.id and c.job_id = j.id
      and (j.node_id = p_from_node or j.id = any (v_anew || v_skipped));
    perform _qwf.move_run(p_run, p_graph, p_context), _qwf.resume_maps(v_resumed, p_from_node),
      _qwf.reset_nodes(array(select unnest(v_again) except select unnest(v_resumed))),
      _qwf.reset_nodes(v_skipped, 'skipped');
  end if;
  update qwf.jobs j set remaining_deps = (
    select count(*)
    from qwf.graph_edges e join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
    where e.graph_id = j.graph_id and e.to_idx = j.node_idx and d.finished_at is null)
  where j.run_id = p_run.id and j.node_idx >= 0 and j.status = 'blocked' and j.elements is null;
  perform _qwf.reopen_run(p_run, _qwf.names_compensation(p_run, p_from_node));
  return v_plan;
end $$;

commit;
