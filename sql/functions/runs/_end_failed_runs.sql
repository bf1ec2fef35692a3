-- Deploy qwf:functions/runs/_end_failed_runs
-- Purpose: Ends the runs in which a node failed or was cancelled.
-- Guarantees: The first such node gives the reason. Elements are left to their map, and a node with
--   on_failure continue does not end its run. Runs that are over or ending do not change. Of its
--   error, the run keeps the line that tells most.
-- Locks: the caller has locked the runs.
-- Called by: _apply_events.

begin;

create function _qwf.end_failed_runs(p_jobs bigint[], p_ended bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set jit = off
as $$
declare
  v_cause record;
  v_runs bigint[];
begin
  for v_cause in
    select distinct on (j.run_id) j.run_id, j.node_id, j.status,
      _qwf.error_line(j.last_error) as error
    from unnest(p_jobs) d (id) join qwf.jobs j on j.id = d.id
    where j.parent_id is null
      and (j.status = 'cancelled' or (j.status = 'failed' and j.on_failure <> 'continue'))
    order by j.run_id, j.finished_at, j.id
  loop
    if _qwf.end_run(v_cause.run_id, v_cause.status::text::qwf.run_status,
      format('%s %s', v_cause.node_id, case v_cause.status
        when 'failed' then 'failed: ' || v_cause.error else 'was cancelled' end),
      p_ended => p_ended)
    then
      v_runs := v_runs || v_cause.run_id;
    end if;
  end loop;
  return v_runs || array(  -- a map that ended early: its other elements stop
    select distinct j.run_id
    from unnest(p_jobs) d (id) join qwf.jobs j on j.id = d.id
    where j.elements is not null and j.status in ('failed', 'cancelled'));
end $$;

commit;
