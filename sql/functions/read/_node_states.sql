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
  select j.node_idx, jsonb_strip_nulls(jsonb_build_object(
    'job_id', j.id, 'status', j.status, 'attempt', j.attempt,
    'progress', case when j.status = 'completed' then 1 else j.progress end,
    'message', left(j.progress_message, 200),
    'error', left(case when starts_with(j.last_error, 'Traceback')
      then (regexp_match(right(j.last_error, 400), e'([^\n]+)[[:space:]]*$'))[1]
      else split_part(left(j.last_error, 400), e'\n', 1) end, 200),
    'worker', j.claimed_by,
    'host', coalesce((select w.host from qwf.workers w where w.id = j.claimed_by),
      split_part(j.claimed_by, ':', 1)),
    'started_at', j.claimed_at, 'finished_at', j.finished_at,
    'waits_since', case when j.status = 'awaiting_input' then j.queued_at end,
    'elements', case when j.elements is not null then coalesce(
      case when j.status = 'completed' and j.failed_elements = 0
        then jsonb_build_object('completed', j.elements) end, (
        select jsonb_object_agg(e.status, e.count)
        from (
          select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
        ) e), '{}') end))
  from qwf.jobs j
  where j.run_id = p_run_id and j.node_idx >= 0
$$;

commit;
