-- Deploy qwf:functions/metrics/_histogram_metrics
-- Purpose: Returns the histograms of attempts and runs as Prometheus takes them: cumulative, by 18
--   edges from 1 ms to 6 h.
-- Guarantees: Edge n is 0.001 * 1.2^(6n) seconds, exactly the lower end of a bucket of _histogram.
--   200 tasks have their name, by name; the others are added up as other.
-- Called by: metrics_of.

begin;

create function _qwf.histogram_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  with named as materialized (
    select t.task from (select distinct a.task from qwf.attempt_totals a) t
    order by t.task limit 200
  ), counted as materialized (
    select f.name, f.help, jsonb_build_object('queue', a.queue,
      'task', case when a.task in (select n.task from named n) then a.task else 'other' end,
      'outcome', a.outcome) as labels, a.count, f.seconds, f.counts
    from qwf.attempt_totals a
    cross join lateral (values
      ('qwf_attempt_queue_seconds', 'How long attempts waited for a worker.',
        a.wait_seconds, a.waits),
      ('qwf_attempt_body_seconds', 'How long bodies ran.', a.run_seconds, a.runs)
    ) f (name, help, seconds, counts)
  )
  (select c.name || '_bucket', c.labels || jsonb_build_object('le', e.le),
    sum(_qwf.counted_below(c.counts, e.n)), 'histogram', c.help
  from counted c
  cross join (
    select n, round((0.001 * 1.2::float8 ^ (6 * n))::numeric, 6)::text as le
    from generate_series(0, 16) n
    union all select null, '+Inf') e
  group by c.name, c.labels, c.help, e.n, e.le
  order by c.name, c.labels, e.n)
  union all
  select c.name || '_' || m.part, c.labels, sum(m.value), 'histogram', c.help
  from counted c
  cross join lateral (values ('count', c.count::float8), ('sum', c.seconds)) m (part, value)
  group by c.name, c.labels, c.help, m.part
$$;

commit;
