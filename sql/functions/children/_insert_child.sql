-- Deploy qwf:functions/children/_insert_child
-- Purpose: Makes the run of a step whose attempt has started, after a check of its inputs.
-- Guarantees: As _insert_children for one step.
-- Notifies: sleepers of the queues of the first nodes.
-- Raises: QW005 if the inputs do not fit the workflow.
-- Called by: _serve_run.

begin;

create function _qwf.insert_child(
  p_job bigint, p_graph bigint, p_context jsonb, p_now timestamptz)
returns _qwf.served
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.raise_problems('QW005', 'the inputs do not fit the workflow',
    array(select p from _qwf.context_problems(p_graph, p_context) p));
  return (
    (select g.node_count from qwf.graphs g where g.id = p_graph),
    (_qwf.insert_children(array[p_job], array[p_graph], array[p_context], p_now))[1],
    null)::_qwf.served;
end $$;

commit;
