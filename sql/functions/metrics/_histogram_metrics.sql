-- Deploy qwf:functions/metrics/_histogram_metrics
-- Purpose: Returns the histograms of attempts as Prometheus takes them: cumulative, by 17 edges
--   from 1 ms to 11 h.
-- Guarantees: The edges are exact (see _edge_counts). 200 tasks have their name, the first by name;
--   the others are added up as other.
-- Called by: metrics_of.

begin;

create function _qwf.histogram_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  with named as materialized (
    select array(
      select t.task from (select distinct a.task from qwf.attempt_totals a) t
      order by t.task limit 200) as tasks
  ), counted as materialized (
    select f.name, f.help, a.queue, a.outcome, a.count, f.seconds,
      case when a.task = any (n.tasks) then a.task else 'other' end as task,
      _qwf.edge_counts(f.counts) as edges
    from named n
    cross join qwf.attempt_totals a
    cross join lateral (values
      ('qwf_attempt_queue_seconds', 'How long attempts waited for a worker.',
        a.wait_seconds, a.waits),
      ('qwf_attempt_body_seconds', 'How long bodies ran.', a.run_seconds, a.runs)
    ) f (name, help, seconds, counts)
  ), edge as materialized (
    select n, round((0.001 * 1.2::float8 ^ (6 * (n - 1)))::numeric, 6)::text as le
    from generate_series(1, 17) n
    union all select 18, '+Inf'
  ), summed as (  -- those with a name are in order and need no sum
    select c.name, c.help, c.queue, c.task, c.outcome, u.n, u.count as value
    from counted c cross join lateral unnest(c.edges || c.count) with ordinality u (count, n)
    where c.task <> 'other'
    union all
    (select c.name, c.help, c.queue, c.task, c.outcome, u.n, sum(u.count)
    from counted c cross join lateral unnest(c.edges || c.count) with ordinality u (count, n)
    where c.task = 'other'
    group by c.name, c.help, c.queue, c.task, c.outcome, u.n
    order by c.name, c.queue, c.outcome, u.n)
  )
  select s.name || '_bucket', jsonb_build_object(
    'queue', s.queue, 'task', s.task, 'outcome', s.outcome, 'le', e.le), s.value, 'histogram',
    s.help
  from summed s join edge e on e.n = s.n
  union all
  select c.name || '_' || m.part, jsonb_build_object(
    'queue', c.queue, 'task', c.task, 'outcome', c.outcome), sum(m.value), 'histogram', c.help
  from counted c
  cross join lateral (values ('count', c.count::float8), ('sum', c.seconds)) m (part, value)
  group by c.name, c.queue, c.task, c.outcome, c.help, m.part
$$;

commit;
