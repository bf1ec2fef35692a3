-- Deploy qwf:functions/references/_run_in_scope
-- Purpose: Returns a run as the references of its own nodes see it: its id, how it ends (null while
--   that is open), its error (before a retry that takes back: that it does) and its failed nodes.
-- Called by: _scope.

begin;

create function _qwf.run_in_scope(p_run_id bigint) returns jsonb
language sql stable
as $$
  select jsonb_build_object('$run', jsonb_build_object(
    'id', r.id, 'status', r.ending, 'failed', (
      select coalesce(jsonb_agg(j.node_id order by j.node_idx), '[]')
      from qwf.jobs j
      where j.run_id = p_run_id and j.node_idx >= 0 and j.status = 'failed'),
    'error', case when r.then_retry is null then r.error
      else 'it is taken back before it runs again' end))
  from qwf.runs r
  where r.id = p_run_id
$$;

commit;
