-- Deploy qwf:functions/children/_start_children
-- Purpose: Starts the new runs of the jobs at the head of a list that was picked from the queue of
--   runs (see _new_children).
-- Guarantees: All in one subtransaction. If it fails, none has started: count is 0, and _serve_run
--   tells which job is to blame. Stops after p_nodes rows of nodes, with at least one run.
-- Locks: the caller has locked the jobs.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: errors that pass (see _is_passing_error).
-- Called by: _serve_runs.

begin;

create function _qwf.start_children(
  p_picked _qwf.picked[], p_nodes int, p_secret bytea, p_now timestamptz)
returns _qwf.started_children
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_new _qwf.new_children := _qwf.new_children(p_picked, p_nodes);
begin
  if v_new.jobs is null then
    return (0, 0, null)::_qwf.started_children;
  end if;
  perform _qwf.start_attempts(v_new.jobs, v_new.contexts, p_secret, p_now);
  return (cardinality(v_new.jobs), v_new.nodes, _qwf.insert_children(
    v_new.jobs, v_new.graphs, v_new.contexts, p_now))::_qwf.started_children;
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    end if;
    return (0, 0, null)::_qwf.started_children;
end $$;

commit;
