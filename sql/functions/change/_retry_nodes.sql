-- Deploy qwf:functions/change/_retry_nodes
-- Purpose: Runs the failed and cancelled nodes of a run that is over again, from_node if given, and
--   all nodes downstream, and returns how many.
-- Guarantees: Changes nothing if there are none. A failed map runs only the elements that did not
--   complete, unless it is named, or its list may differ.
-- Locks: the caller has locked the run; its events, its jobs.
-- Notifies: sleepers of the queues that got work.
-- Called by: _resume_child, retry_run.

begin;

create function _qwf.retry_nodes(p_run qwf.runs, p_from_node text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs bigint[] := _qwf.nodes_to_retry(p_run, p_from_node);
  v_resumed bigint[];
begin
  if v_jobs = '{}' then
    return 0;
  end if;
  perform _qwf.notice_clean_up(p_run, v_jobs);
  -- the run is over: its events, poisoned ones included, no longer matter
  delete from qwf.outbox o where o.run_id = p_run.id;
  v_resumed := array(  -- maps that failed themselves and whose list cannot have changed
    select m.id from qwf.jobs m
    where m.id = any (v_jobs) and m.elements is not null
      and m.node_id is distinct from p_from_node
      and not exists (  -- elements that never had inputs: read the list again
        select from qwf.jobs j
        where j.parent_id = m.id and j.attempt = 0
          and (j.status = 'failed' or j.input_spec is not null))
      and not exists (
        select from qwf.graph_edges e
        join qwf.jobs d on d.run_id = m.run_id and d.node_idx = e.from_idx
        where e.graph_id = m.graph_id and e.to_idx = m.node_idx and d.id = any (v_jobs)));
  perform _qwf.resume_maps(v_resumed, p_from_node);
  perform _qwf.reset_nodes(array(select unnest(v_jobs) except select unnest(v_resumed)));
  perform _qwf.reopen_run(p_run);
  return cardinality(v_jobs);
end $$;

commit;
