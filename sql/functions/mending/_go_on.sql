-- Deploy qwf:functions/mending/_go_on
-- Purpose: Lets runs go on that have taken back what a retry runs again: by the plan of that retry,
--   made again.
-- Guarantees: In the transaction in which the last compensation node ended. A run with one that
--   failed although the run goes on (on_failure continue) fails, as it does after any other. One
--   that has nothing left to run, because nothing was taken back, completes. An error is one of the
--   event that was applied: it is tried again, and fails the run in the end.
-- Locks: the caller has locked the runs.
-- Called by: _apply_events.

begin;

create function _qwf.go_on(p_runs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_run qwf.runs;
  v_failed text;
begin
  for v_run in
    select r.* from qwf.runs r where r.id = any (p_runs) and r.then_retry is not null order by r.id
  loop
    v_failed := (
      select format('%s failed: %s', j.node_id, _qwf.error_line(j.last_error)) from qwf.jobs j
      where j.run_id = v_run.id and j.run_if = 'compensates' and j.status in ('failed', 'cancelled')
        and _qwf.has_completed(v_run.id, v_run.graph_id, (
          select n.compensates from qwf.graph_nodes n
          where n.graph_id = v_run.graph_id and n.idx = j.node_idx))
      order by j.id limit 1);
    if v_failed is not null then
      perform _qwf.end_run(v_run.id, 'failed', v_failed, true);
    elsif _qwf.mend_run(v_run, (v_run.then_retry -> 'graph_id')::bigint,
      v_run.then_retry -> 'context', v_run.then_retry ->> 'from_node') = '{}'
    then
      perform _qwf.end_run(v_run.id, 'completed', null, true);
    end if;
  end loop;
end $$;

commit;
