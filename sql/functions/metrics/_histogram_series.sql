-- Deploy qwf:functions/metrics/_histogram_series
-- Purpose: Returns the histograms of attempts and runs, each in one row: how many took less than
--   each of 17 edges from 1 ms to 11 h.
-- Guarantees: The rows of the totals have the exact edges. 200 tasks and 200 workflows have their
--   name, the first by name; the others are added up as other.
-- Called by: metrics_of.

begin;

create function _qwf.histogram_series() returns setof _qwf.metric_series
language sql stable
set jit = off
as $$
  with counted as materialized (
    select f.name, f.help, array['queue', a.queue, 'outcome', a.outcome,
        'task', case when t.named then a.task else 'other' end] as labels, t.named, a.count,
      f.seconds, f.edges
    from qwf.attempt_totals a
    left join (
      select x.task, true as named
      from qwf.attempt_totals x group by x.task order by x.task limit 200) t on t.task = a.task
    cross join lateral (values
      ('qwf_attempt_queue_seconds', 'How long attempts waited for a worker.',
        a.wait_seconds, a.wait_edges),
      ('qwf_attempt_body_seconds', 'How long bodies ran.', a.run_seconds, a.run_edges)
    ) f (name, help, seconds, edges)
    union all
    select 'qwf_run_seconds', 'How long runs took, without the time that they waited for answers.',
      array['status', r.status,
        'workflow', case when w.named then r.workflow else 'other' end], w.named, r.count,
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
  )
  select c.name, c.labels, c.count::float8, 'histogram', c.help, c.seconds, c.edges
  from counted c where c.named
  union all
  select o.name, o.labels, max(o.total)::float8, 'histogram', o.help, max(o.seconds),
    array_agg(o.count order by o.n)
  from other o group by o.name, o.help, o.labels
$$;

commit;
