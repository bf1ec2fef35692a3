-- Deploy qwf:functions/change/retry_run
-- Purpose: Runs the failed and cancelled nodes of a run again, and all nodes downstream of them.
-- Guarantees: Completed nodes keep their outputs, except from_node and all nodes downstream of it.
--   The definitions are those of the run. Budgets start again; the history of attempts stays,
--   except for the elements of a map that runs again as a whole, as its list may differ.
--   A NOTICE names clean-up nodes that have completed, if a node before them keeps its output.
--   A run that waited in line waits there again. A run of a step is retried with the run above it.
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
  v_nodes int;
begin
  perform _qwf.lock_runs(array[retry_run.run_id]);
  select r.* into v_run from qwf.runs r where r.id = retry_run.run_id;
  if not found then
    perform _qwf.raise_no_such_run(retry_run.run_id);
  elsif v_run.finished_at is null then
    raise exception using errcode = 'QW002', message = 'the run is not over',
      detail = format('run %s is %s', v_run.id, v_run.status),
      hint = 'wait for its end, or cancel it first';
  end if;
  perform _qwf.refuse_child(v_run);
  if exists (select from qwf.jobs j where j.run_id = v_run.id and j.finished_at is null) then
    raise exception using errcode = 'QW002', message = 'a body of the run is still running',
      detail = format('run %s is %s', v_run.id, v_run.status),
      hint = 'it was told to stop; try again soon, at the latest when its lease has lapsed';
  end if;
  perform _qwf.refuse_erased(array(select j.id from qwf.jobs j where j.run_id = v_run.id));
  perform _qwf.check_limits(v_run.graph_id);
  v_nodes := coalesce(_qwf.line_up_again(v_run, retry_run.from_node),
    _qwf.retry_nodes(v_run, retry_run.from_node));
  if v_nodes = 0 then
    raise exception using errcode = 'QW002', message = 'nothing to retry',
      detail = format('run %s is %s and no node of it failed or was cancelled',
        v_run.id, v_run.status),
      hint = 'name a node to run again from there: select qwf.retry_run(run, ''step/node'')';
  end if;
  insert into _qwf.event_log (at, run_id, kind, detail)
  values (qwf.now(), v_run.id, 'retried', jsonb_strip_nulls(jsonb_build_object(
    'from_node', retry_run.from_node, 'nodes', v_nodes)));
  return v_nodes;
end $$;
comment on function qwf.retry_run is
  'Runs failed and cancelled nodes, from_node if given, and all nodes downstream again; returns '
  'how many. A failed map runs only the elements that did not complete again, unless it is named. '
  'A NOTICE tells which clean-up nodes (run_if all_done) have completed: what they have undone is '
  'not done again unless from_node names it. '
  'QW001 no such run or node, QW002 not over, erased or nothing to retry, QW008 its key is taken.';
call _qwf.allow('qwf.retry_run', 'qwf_producer');

commit;
