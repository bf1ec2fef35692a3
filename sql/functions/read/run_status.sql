-- Deploy qwf:functions/read/run_status
-- Purpose: Returns a run, all its nodes and the tries that have ended as one document.
-- Guarantees: One snapshot, so that the run and its nodes agree. Elements are counted for maps
--   only. A node that waits for a person has its question, one that
--   waits for a signal its name. Reads each node and edge
--   once, whatever the statistics say.

begin;

create function qwf.run_status(run_id bigint) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_needs jsonb;  -- by idx of a node: the nodes it depends on; read once for all nodes
  v_status jsonb;
begin
  select coalesce(jsonb_object_agg(n.to_idx, n.needs), '{}') into v_needs
  from (
    select e.to_idx, jsonb_agg(d.node_id order by d.idx) as needs
    from qwf.runs r
    join qwf.graph_edges e on e.graph_id = r.graph_id
    join qwf.graph_nodes d on d.graph_id = e.graph_id and d.idx = e.from_idx
    where r.id = run_status.run_id
    group by e.to_idx) n;
  select jsonb_build_object(
      'run', to_jsonb(r) - 'then_retry' || jsonb_build_object(
        'takes_back_first', r.then_retry is not null,
        'parent_run', (select p.run_id from qwf.jobs p where p.id = r.parent_id),
        'parent_node', (select p.node_id from qwf.jobs p where p.id = r.parent_id),
        'seconds', extract(epoch from coalesce(r.finished_at, v_now) - r.started_at)),
      'nodes', coalesce(n.nodes, '[]'),
      'tries', coalesce((select jsonb_agg(to_jsonb(t) - 'run_id' order by t.try)
        from qwf.run_tries t where t.run_id = r.id), '[]')) into v_status
  from qwf.runs r
  cross join lateral (
    select jsonb_agg(jsonb_build_object(
      'job_id', j.id, 'node_id', j.node_id, 'step_id', split_part(j.node_id, '/', 1),
      'status', j.status, 'queue', j.queue, 'task', j.task, 'attempt', j.attempt,
      'progress', case when j.status = 'completed' then 1 else p.fraction end,
      'message', coalesce(p.message, (
        select m.message from qwf.run_nodes m
        where m.run_id = j.run_id and m.idx = j.node_idx)),
      'error', j.last_error, 'worker', j.claimed_by, 'started_at', j.claimed_at,
      'finished_at', j.finished_at,
      'seconds', extract(epoch from
        coalesce(j.finished_at, case when j.status = 'running' then v_now end) - j.claimed_at),
      'depends_on', coalesce(v_needs -> j.node_idx::text, '[]')
      ) || case when j.elements is null then '{}' else jsonb_build_object('elements', (
        select coalesce(jsonb_object_agg(e.status, e.count), '{}')
        from (
          select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
        ) e)) end || case when j.status = 'awaiting_input' and j.input_spec ? 'widget'
          then jsonb_build_object('question', _qwf.question(j)) else '{}' end
        || case when j.status = 'awaiting_input' and j.input_spec ? 'signal'
          then jsonb_build_object('signal', j.input_spec -> 'signal') else '{}' end
        || case when starts_with(j.queue, 'qwf.')
          then jsonb_build_object('child_runs', coalesce(_qwf.child_runs(j), '[]'))
          else '{}' end || coalesce((select jsonb_build_object('takes_back', g.compensates)
            from qwf.graph_nodes g where j.run_if = 'compensates'
              and g.graph_id = j.graph_id and g.idx = j.node_idx), '{}')
      order by j.node_idx) as nodes
    from qwf.jobs j
    left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
    where j.run_id = r.id and j.node_idx >= 0  -- not the elements of maps
  ) n
  where r.id = run_status.run_id;
  if v_status is null then
    perform _qwf.raise_no_such_run(run_status.run_id);
  end if;
  return v_status;
end $$;
comment on function qwf.run_status is
  'The run; its nodes in topological order with states, durations (seconds), errors, dependencies '
  'and open questions; of a node that runs a workflow, child_runs: at most 20 of its runs, live '
  'ones first; of a compensation node, what it takes_back; and its tries that have ended, as in '
  'view run_tries. QW001: no such run.';
call _qwf.allow('qwf.run_status', 'qwf_producer', 'qwf_viewer');

commit;
