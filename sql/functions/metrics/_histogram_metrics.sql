-- Deploy qwf:functions/metrics/_histogram_metrics
-- Purpose: Returns the histograms of attempts and runs as Prometheus takes them: cumulative, by 17
--   edges from 1 ms to 11 h.
-- Guarantees: The edges are exact (see _edge_counts). 200 tasks and 200 workflows have their name,
--   the first by name; the others are added up as other. The labels of a series are made once, not
--   for each edge.
-- Called by: metrics_of.

begin;

create function _qwf.histogram_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  with counted as materialized (
    select f.name, f.help, jsonb_build_object('queue', a.queue, 'outcome', a.outcome,
        'task', case when t.named then a.task else 'other' end) as labels, t.named, a.count,
      f.seconds, _qwf.edge_counts(f.counts) as edges
    from qwf.attempt_totals a
    left join (
      select x.task, true as named
      from qwf.attempt_totals x group by x.task order by x.task limit 200) t on t.task = a.task
    cross join lateral (values
      ('qwf_attempt_queue_seconds', 'How long attempts waited for a worker.',
        a.wait_seconds, a.waits),
      ('qwf_attempt_body_seconds', 'How long bodies ran.', a.run_seconds, a.runs)
    ) f (name, help, seconds, counts)
    union all
    select 'qwf_run_seconds', 'How long runs took, without the time that they waited for answers.',
      jsonb_build_object('status', r.status,
        'workflow', case when w.named then r.workflow else 'other' end), w.named, r.count,
      r.seconds, r.edges
    from _qwf.run_totals r
    left join (
      select x.workflow, true as named
      from _qwf.run_totals x group by x.workflow order by x.workflow limit 200
    ) w on w.workflow = r.workflow
  ), other as materialized (
    select c.name, c.help, c.labels, u.n, sum(u.count)::bigint as count,
      sum(c.count)::bigint as total, sum(c.seconds) as seconds
    from counted c cross join lateral unnest(c.edges) with ordinality u (count, n)
    where c.named is null
    group by c.name, c.help, c.labels, u.n
  ), series as materialized (
    select c.name, c.help, c.labels, c.count, c.seconds, c.edges from counted c where c.named
    union all
    select o.name, o.help, o.labels, max(o.total), max(o.seconds), array_agg(o.count order by o.n)
    from other o group by o.name, o.help, o.labels
  ), edge as materialized (
    select n, jsonb_build_object('le', case when n < 18
      then round((0.001 * 1.2::float8 ^ (6 * (n - 1)))::numeric, 6)::text else '+Inf' end) as le
    from generate_series(1, 18) n
  )
  select s.name || '_bucket', s.labels || e.le,
    case when e.n < 18 then s.edges[e.n] else s.count end, 'histogram', s.help
  from series s cross join edge e
  union all
  select s.name || m.part, s.labels, m.value, 'histogram', s.help
  from series s
  cross join lateral (values ('_count', s.count::float8), ('_sum', s.seconds)) m (part, value)
$$;

commit;
