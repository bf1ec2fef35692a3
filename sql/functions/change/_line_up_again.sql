-- Deploy qwf:functions/change/_line_up_again
-- Purpose: Lets a run that had waited in line, and is over, wait in line once more.
-- Guarantees: Returns how many of its nodes will run again, or null if it never waited in line:
--   then nothing has changed. from_node and what has not completed counts as cancelled until it
--   runs. The budget of the run starts again. It starts in this transaction if its limit has room.
-- Locks: the caller has locked the run; the job for which it runs.
-- Raises: QW008 if another live run has taken its key meanwhile.
-- Called by: retry_run.

begin;

create function _qwf.line_up_again(p_run qwf.runs, p_from_node text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_nodes bigint[];
begin
  if not exists (select from qwf.jobs j where j.id = p_run.parent_id and j.run_id is null) then
    return null;
  end if;
  v_nodes := _qwf.nodes_to_retry(p_run, p_from_node);
  if v_nodes = '{}' and exists (select from qwf.jobs j where j.run_id = p_run.id) then
    return 0;
  end if;
  update qwf.jobs j set status = 'cancelled'
  where j.id = any (v_nodes) and j.status in ('completed', 'skipped');
  update qwf.runs r set status = 'queued', started_at = null, finished_at = null, ending = null,
    error = null, deadline_at = null
  where r.id = p_run.id;
  update qwf.jobs j set status = 'queued', position = _qwf.next_position(), queued_at = v_now,
    finished_at = null, failures = 0, losses = 0, run_at = null
  where j.id = p_run.parent_id;
  perform _qwf.wake('qwf.runs', 1);
  perform _qwf.apply_events('{}');
  return greatest(cardinality(v_nodes), 1);
exception
  when unique_violation then
    raise exception using errcode = 'QW008', message = 'the key of the run is taken',
      detail = format('key %L of workflow %s in project %L',
        p_run.key, p_run.workflow, p_run.project),
      hint = 'another run with this key is live: wait for it or cancel it, then retry';
end $$;

commit;
