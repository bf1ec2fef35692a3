-- Deploy qwf:functions/invariants/_graph_invariants
-- Purpose: Returns runs whose nodes are not those of the graph that they execute (a retry may have
--   moved them to another one), compensation nodes that should sleep, and repeats whose turns do
--   not follow one another, from one snapshot.
-- Called by: check_invariants.

begin;

create function _qwf.graph_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'the nodes of a run are those of its graph', 'job ' || j.id,
    format('%s at place %s of graph %s, run %s has graph %s and there %s',
      j.node_id, j.node_idx, j.graph_id, r.id, r.graph_id, coalesce(n.node_id, 'nothing'))
  from qwf.jobs j
  join qwf.runs r on r.id = j.run_id
  left join qwf.graph_nodes n on n.graph_id = r.graph_id and n.idx = j.node_idx
  where j.graph_id <> r.graph_id
    or j.node_idx is not null and j.node_id is distinct from n.node_id
  union all
  select 'a compensation node is skipped unless its run ends or ended badly', 'job ' || j.id,
    format('%s of run %s, %s, is %s', j.node_id, r.id, r.status, j.status)
  from qwf.jobs j join qwf.runs r on r.id = j.run_id
  where j.run_if = 'compensates' and j.status <> 'skipped'
    and r.ending is null and r.then_retry is null and r.status not in ('failed', 'cancelled')
    and not (r.status = 'queued' and r.open_nodes = 0)  -- it waits in line for its next try
  union all
  select 'an element is one of its map', 'job ' || e.id,
    format('%s of run %s, its map is %s of run %s', e.node_id, e.run_id, m.node_id, m.run_id)
  from qwf.jobs e left join qwf.jobs m on m.id = e.parent_id
  where e.parent_id is not null and e.run_id is not null
    and (m.run_id is distinct from e.run_id
      or e.node_id is distinct from format('%s[%s]', m.node_id, e.element))
  union all
  select 'the turns of a repeat follow one another, and only the last may not be over',
    'job ' || m.id, format('%s of run %s counts %s turns, there are %s up to %s, %s not over',
      m.node_id, m.run_id, m.elements, t.turns, t.last + 1, t.live)
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  cross join lateral (
    select count(*) as turns, max(e.element) as last,
      count(*) filter (where e.finished_at is null) as live,
      coalesce(bool_or(e.finished_at is null and e.element < m.elements - 1), false) as early
    from qwf.jobs e
    where e.parent_id = m.id) t
  where n.repeat is not null and m.elements is not null
    and (t.turns <> m.elements or t.last + 1 <> m.elements or t.early)
  union all
  select 'a run has as many nodes as its graph', 'run ' || r.id,
    format('%s, graph %s has %s', r.node_count, g.id, g.node_count)
  from qwf.runs r join qwf.graphs g on g.id = r.graph_id
  where r.node_count <> g.node_count
$$;

commit;
