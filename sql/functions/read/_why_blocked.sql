-- Deploy qwf:functions/read/_why_blocked
-- Purpose: Returns what a blocked node, map or element waits for.
-- Called by: why_not.

begin;

create function _qwf.why_blocked(p_job qwf.jobs) returns setof text
language sql stable
as $$
  select case when r.finished_at is null
      then format('its run is about to end as %s: only clean-up nodes still run', r.ending)
      else format('its run is over, %s: it will be cancelled', r.status) end
  from qwf.runs r
  where r.id = p_job.run_id
    and (r.finished_at is not null or (r.ending is not null and p_job.run_if is null))
  union all
  select format('it depends on %s, which is %s%s%s', d.node_id, d.status,
    case when d.finished_at is not null and d.elements is not null and d.remaining_deps > 0
      then format(' (elements yet to stop: %s)', d.remaining_deps) end,
    case when p_job.run_if is not null then '; it runs once that has ended' end)
  from qwf.graph_edges e
  join qwf.jobs d on d.run_id = p_job.run_id and d.node_idx = e.from_idx
  where e.graph_id = p_job.graph_id and e.to_idx = p_job.node_idx and p_job.elements is null
    and (d.elements is not null and d.remaining_deps > 0
      or d.status not in ('completed', 'skipped', 'failed', 'cancelled')
      or d.status in ('failed', 'cancelled') and p_job.run_if is null
        and (d.status, d.on_failure) <> ('failed', 'continue'))
  union all
  select coalesce(
    'it repeats: ' || (
      select _qwf.spell_turn(t.element, n.repeat -> 'max', t.status, t.run_at)
      from qwf.graph_nodes n
      join qwf.jobs t on t.parent_id = p_job.id and t.element = p_job.elements - 1
      where n.graph_id = p_job.graph_id and n.idx = p_job.node_idx and n.repeat is not null),
    format('it is a map: %s of its %s elements have not ended', p_job.remaining_deps,
      p_job.elements))
  where p_job.elements is not null
  union all
  select case when m.finished_at is null
      then format('map %s runs at most %s elements at once, and as many are active',
        m.node_id, n.max_parallel)
      else format('map %s is over, %s: it will be cancelled', m.node_id, m.status) end
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  where m.id = p_job.parent_id and (m.finished_at is not null or n.max_parallel is not null)
  union all
  select format('%s events of its run %s', count(*), case when o.poisoned_at is null
      then 'wait to be applied' || coalesce(', the last error was ' || max(o.error), '')
        || ': select qwf.drain_outbox()'
      else format('were given up: %s: retry_run() starts again without them', max(o.error)) end)
  from qwf.outbox o
  where o.run_id = p_job.run_id
  group by o.poisoned_at
$$;

commit;
