-- Deploy qwf:functions/read/_why_asleep
-- Purpose: Returns why a compensation node has not run; null for any other job.
-- Called by: why_not.

begin;

create function _qwf.why_asleep(p_job qwf.jobs) returns text
language sql stable
as $$
  select case
      when r.finished_at is null and r.ending is null then format(
        'it runs only if the run fails or is cancelled: it takes back %s', n.targets)
      when r.status = 'completed' then 'the run completed: nothing is taken back'
      else format('there was nothing to take back of %s', n.targets) end
  from qwf.runs r
  cross join lateral (
    select array_to_string(g.compensates, ', ') as targets from qwf.graph_nodes g
    where g.graph_id = p_job.graph_id and g.idx = p_job.node_idx) n
  where p_job.status = 'skipped' and p_job.run_if = 'compensates' and r.id = p_job.run_id
$$;

commit;
