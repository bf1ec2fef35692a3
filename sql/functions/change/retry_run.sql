-- Deploy qwf:functions/change/retry_run
-- Purpose: Runs the failed and cancelled nodes of a run again, and all nodes downstream of them.
-- Guarantees: Completed nodes keep their outputs, except from_node and all nodes downstream of it.
--   The definitions are those of the run. Budgets start again; the history of attempts stays,
--   except for the elements of a map that runs again as a whole, as its list may differ.
--   A NOTICE names clean-up nodes that have completed, if a node before them keeps its output.
-- Locks: the run, its events, its jobs.
-- Notifies: sleepers of the queues that got work.

begin;

create function qwf.retry_run(run_id bigint, from_node text default null) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run qwf.runs;
  v_jobs bigint[];
  v_resumed bigint[];
begin
  perform _qwf.lock_runs(array[retry_run.run_id]);
  select r.* into v_run from qwf.runs r where r.id = retry_run.run_id;
  if not found then
    perform _qwf.raise_no_such_run(retry_run.run_id);
  elsif v_run.finished_at is null then
    raise exception using errcode = 'QW002', message = 'the run is not over',
      detail = format('run %s is %s', v_run.id, v_run.status),
      hint = 'wait for its end, or cancel it first';
  elsif exists (select from qwf.jobs j where j.run_id = v_run.id and j.finished_at is null) then
    raise exception using errcode = 'QW002', message = 'a body of the run is still running',
      detail = format('run %s is %s', v_run.id, v_run.status),
      hint = 'it was told to stop; try again soon, at the latest when its lease has lapsed';
  end if;
  perform _qwf.refuse_erased(array(select j.id from qwf.jobs j where j.run_id = v_run.id));
  perform _qwf.check_limits(v_run.graph_id);
  v_jobs := _qwf.nodes_to_retry(v_run, retry_run.from_node);
  if cardinality(v_jobs) = 0 then
    raise exception using errcode = 'QW002', message = 'nothing to retry',
      detail = format('run %s is %s and no node of it failed or was cancelled',
        v_run.id, v_run.status),
      hint = 'name a node to run again from there: select qwf.retry_run(run, ''step/node'')';
  end if;
  perform _qwf.notice_clean_up(v_run, v_jobs);
  perform _qwf.drop_checkpoints(v_run, v_jobs, retry_run.from_node);
  -- the run is over: its events, poisoned ones included, no longer matter
  delete from qwf.outbox o where o.run_id = v_run.id;
  v_resumed := array(  -- maps that failed themselves and whose list cannot have changed
    select m.id from qwf.jobs m
    where m.id = any (v_jobs) and m.elements is not null
      and m.node_id is distinct from retry_run.from_node
      and not exists (  -- elements that never had inputs: read the list again
        select from qwf.jobs j
        where j.parent_id = m.id and j.attempt = 0
          and (j.status = 'failed' or j.input_spec is not null))
      and not exists (
        select from qwf.graph_edges e
        join qwf.jobs d on d.run_id = m.run_id and d.node_idx = e.from_idx
        where e.graph_id = m.graph_id and e.to_idx = m.node_idx and d.id = any (v_jobs)));
  perform _qwf.resume_maps(v_resumed, retry_run.from_node);
  perform _qwf.reset_nodes(array(select unnest(v_jobs) except select unnest(v_resumed)));
  perform _qwf.reopen_run(v_run);
  insert into _qwf.event_log (at, run_id, kind, detail)
  values (qwf.now(), v_run.id, 'retried', jsonb_strip_nulls(jsonb_build_object(
    'from_node', retry_run.from_node, 'nodes', cardinality(v_jobs))));
  return cardinality(v_jobs);
end $$;
comment on function qwf.retry_run is
  'Runs failed and cancelled nodes, from_node if given, and all nodes downstream again; returns '
  'how many. A failed map runs only the elements that did not complete again, unless it is named. '
  'A NOTICE tells which clean-up nodes (run_if all_done) have completed: what they have undone is '
  'not done again unless from_node names it. '
  'QW001 no such run or node, QW002 not over, erased or nothing to retry, QW008 its key is taken.';
call _qwf.allow('qwf.retry_run', 'qwf_producer');

commit;
