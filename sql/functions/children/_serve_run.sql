-- Deploy qwf:functions/children/_serve_run
-- Purpose: Starts the run of a job that was picked from the queue of runs.
-- Guarantees: Another attempt goes on with the last run of the job if that failed or was cancelled
--   and is of the same workflow: nodes run again that other definitions or inputs change. Else it
--   is a new run. If that last run is locked, or a body of it still stops, the job waits for 5
--   seconds: nothing is waited for here, because the caller holds jobs. A run in line that is over
--   takes its job out of the line, unless it failed and is about to wait there again; what a retry
--   of it asks for is in the inputs of that job. What the inputs or the definition forbid ends the
--   attempt as fatal. A job that is not queued any more is left as it is.
-- Locks: the last run of the job, if it is free.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: errors that pass (see _is_passing_error).
-- Called by: _serve_runs.

begin;

create function _qwf.serve_run(p_picked _qwf.picked, p_secret bytea, p_now timestamptz)
returns _qwf.served
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job qwf.jobs;
  v_old qwf.runs;
  v_graph bigint;
  v_context jsonb;
  v_served _qwf.served := (0, null, null);
begin
  select j.* into v_job from qwf.jobs j where j.id = p_picked.id and j.status = 'queued';
  if not found then return v_served; end if;  -- the end of another picked one has cancelled it
  select r.* into v_old from qwf.runs r where r.parent_id = v_job.id order by r.id desc limit 1;
  v_context := coalesce(p_picked.inputs, v_job.inputs);
  v_graph := (
    select n.child_graph_id from qwf.graph_nodes n
    where n.graph_id = v_job.graph_id and n.idx = coalesce(v_job.node_idx, (
      select m.node_idx from qwf.jobs m where m.id = v_job.parent_id)));
  if v_job.run_id is not null and (v_old.status is distinct from 'failed'
    and v_old.status is distinct from 'cancelled'
    or v_old.workflow <> (
      select w.name from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
      where g.id = v_graph))
  then
    v_old := null;
  else
    select r.* into v_old from qwf.runs r where r.id = v_old.id for no key update skip locked;
    if not found or v_job.run_id is null and v_old.status = 'failed' or exists (
      select from qwf.jobs j where j.run_id = v_old.id and j.finished_at is null)
    then
      update qwf.jobs j set status = 'scheduled', run_at = p_now + interval '5 s', position = null,
        queued_at = null
      where j.id = v_job.id;
      return v_served;
    elsif v_job.run_id is null and v_old.finished_at is not null then
      update qwf.jobs j set status = 'cancelled', finished_at = p_now where j.id = v_job.id;
      return v_served;
    end if;
  end if;
  perform _qwf.start_attempts(array[v_job.id], array[v_context], p_secret, p_now);
  begin
    if v_old.id is not null then
      v_served := (case when v_job.run_id is not null
        then _qwf.resume_child(v_job, v_old, v_graph, v_context, p_now)
        else _qwf.resume_child(v_job, v_old,
          coalesce((v_job.inputs -> 'graph_id')::bigint, v_old.graph_id),
          coalesce(v_job.inputs -> 'context', v_old.context), p_now)
        end, v_old.id, null);
    else
      perform _qwf.raise_problems('QW005', 'the inputs do not fit the workflow',
        array(select p from _qwf.context_problems(v_graph, v_context) p));
      v_served := ((select g.node_count from qwf.graphs g where g.id = v_graph),
        (_qwf.insert_children(array[v_job.id], array[v_graph], array[v_context], p_now))[1], null);
    end if;
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then
        raise;
      end if;
      get stacked diagnostics v_served.error = pg_exception_detail;
      v_served := (1, null,
        format('%s %s%s', sqlstate, sqlerrm, ': ' || nullif(v_served.error, '')));
  end;
  return v_served;
end $$;

commit;
