-- Deploy qwf:functions/events/_run_ended
-- Purpose: Returns what the event run_ended says about a run: how this try of it ended, how long it
--   took from its start, which node failed, the first line of the error, and the run above it.
-- Called by: _end_run, _insert_nodes, _resume_child, _tell_run_ends.

begin;

create function _qwf.run_ended(
  p_status qwf.run_status, p_started_at timestamptz, p_finished_at timestamptz, p_error text,
  p_parent_id bigint default null)
returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'status', p_status,
    'seconds', round(extract(epoch from p_finished_at - p_started_at), 3),
    'node', case when p_status = 'failed' then substring(p_error from '^([^ ]+) failed: ') end,
    'error', left(split_part(p_error, E'\n', 1), 500),
    'parent', case when p_parent_id is not null then (
      select j.run_id from qwf.jobs j where j.id = p_parent_id) end))
$$;

commit;
