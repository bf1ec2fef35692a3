-- Deploy qwf:functions/read/_node_states
-- Purpose: Returns the state of each node of a run, and of a map how many of its elements are in
--   which state.
-- Guarantees: One row for each node, none for an element. The elements of a map that completed
--   without a failure are not read.
-- Called by: run_graph.

begin;

create function _qwf.node_states(p_run_id bigint) returns table (idx int, state jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
  select n.idx, jsonb_strip_nulls(jsonb_build_object(
    'idx', n.idx, 'job_id', n.job_id, 'status', n.status, 'attempt', n.attempt,
    'progress', n.progress, 'message', n.message, 'error', n.error, 'worker', n.worker,
    'host', n.host, 'started_at', n.started_at, 'finished_at', n.finished_at,
    'waits_since', n.waits_since, 'elements', n.elements, 'child_run', n.child_run))
  from qwf.run_nodes n
  where n.run_id = p_run_id
$$;

commit;
