-- Deploy qwf:views/health/metrics
-- Purpose: Every figure for monitors, one in a row, as Prometheus takes them.
-- Guarantees: Those of the view metric_series. qwf_unreadable counts the parts that are left out.

begin;

create view qwf.metrics as
with found as materialized (
  select * from qwf.metric_series
), edge as materialized (
  select n, jsonb_build_object('le', case when n < 18
    then round((0.001 * 1.2::float8 ^ (6 * (n - 1)))::numeric, 6)::text else '+Inf' end) as le
  from generate_series(1, 18) n
)
select f.name, f.labels, f.value, f.kind, f.help
from found f where f.labels is not null and f.edges is null
union all
select f.name || '_bucket', f.labels || e.le, case when e.n < 18 then f.edges[e.n] else f.value end,
  f.kind, f.help
from found f cross join edge e where f.edges is not null
union all
select f.name || m.part, f.labels, m.value, f.kind, f.help
from found f
cross join lateral (values ('_count', f.value), ('_sum', f.seconds)) m (part, value)
where f.edges is not null
union all
select 'qwf_unreadable', '{}', count(*), 'gauge',
  'Queries that failed in this scrape, or that this login may not make.'
from found f where f.labels is null;
comment on view qwf.metrics is
  'Figures for monitors, as qwf metrics prints them: '
  'select name, labels, value from qwf.metrics where value is not null.';
comment on column qwf.metrics.name is 'Name of the metric; that of a counter ends in _total.';
comment on column qwf.metrics.labels is 'The subject of the figure: an object of texts.';
comment on column qwf.metrics.value is
  'The figure, in the unit that the name ends with: seconds, bytes, a ratio, else a number; null: '
  'not known, or there is nothing that the metric is about.';
comment on column qwf.metrics.kind is
  'gauge; counter: only grows; or histogram: cumulative, by label le.';
comment on column qwf.metrics.help is 'Meaning of the metric, the same in all its rows.';

commit;
