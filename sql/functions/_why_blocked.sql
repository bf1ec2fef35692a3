-- Deploy qwf:functions/_why_blocked
-- requires: schema/jobs
-- requires: schema/graphs
-- requires: schema/outbox
-- Purpose: What a blocked node waits for.
-- Called by: why_not.

begin;

create function qwf._why_blocked(p_job qwf.jobs) returns setof text
language sql stable
as $$
  select format('it depends on %s, which is %s', d.node_id, d.status)
  from qwf.graph_edges e
  join qwf.jobs d on d.run_id = p_job.run_id and d.node_idx = e.from_idx
  where e.graph_id = p_job.graph_id and e.to_idx = p_job.node_idx
    and d.status not in ('completed', 'skipped')
  union all
  select format('%s events of its run wait to be applied%s: select qwf.drain_outbox()', count(*),
    coalesce(', the last error was ' || max(o.error), ''))
  from qwf.outbox o
  where o.run_id = p_job.run_id
  having count(*) > 0
$$;
comment on function qwf._why_blocked(qwf.jobs) is
  'Unsatisfied dependencies of a node, and events not applied yet.';
revoke all on function qwf._why_blocked(qwf.jobs) from public;

commit;
