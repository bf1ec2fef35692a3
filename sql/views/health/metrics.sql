-- Every figure for monitors.

-- Every figure for monitors, each histogram in one row. The views metrics and metrics_text show
-- them as Prometheus takes them. As fast after a year as after an hour, and with a million jobs
-- queued as with none. A part that fails is left out: a warning says why. A standby leaves out
-- what it cannot know: the load of boxes, sizes of tables, old transactions.
create view qwf.metric_series as
select f.name, jsonb_object(f.labels) as labels, f.value, f.kind, f.help, f.seconds, f.edges,
  f.labels as pairs
from (
  select m.*
  from unnest('{queues,workers,attempts,histograms,events,late,runs,upkeep,limits,model servers}'
    ::text[] || case when pg_is_in_recovery() then '{}' else '{tables}'::text[] end)
    with ordinality p (part, place)
  cross join lateral _qwf.metrics_of(p.part) m
  union all
  select m.*, null, null from _qwf.postgres_metrics() m
  union all
  select m.*
  from unnest(case when pg_is_in_recovery() then '{}' else '{boxes}'::text[] end) p (part)
  cross join lateral _qwf.metrics_of(p.part) m) f;
comment on view qwf.metric_series is
  'Figures for monitors, each histogram in one row; see the view metrics.';
comment on column qwf.metric_series.name is
  'Name of the metric; qwf_unreadable: a part of the metrics that could not be read.';
comment on column qwf.metric_series.labels is
  'The subject of the figure: an object of texts; null: a part that could not be read.';
comment on column qwf.metric_series.value is
  'The figure; of a histogram, how many there are. Null: not known.';
comment on column qwf.metric_series.kind is 'gauge, counter or histogram.';
comment on column qwf.metric_series.help is 'Meaning of the metric, the same in all its rows.';
comment on column qwf.metric_series.seconds is 'Sum of the seconds of a histogram.';
comment on column qwf.metric_series.edges is
  'Of a histogram, how many took less than each of 17 edges, 0.001 * 1.2^(6n) seconds; null: it is '
  'none.';
comment on column qwf.metric_series.pairs is
  'The labels as a list: each is followed by its value.';

-- Every figure for monitors, one in a row, as Prometheus takes them. Those of the view
-- metric_series. qwf_unreadable counts the parts that are left out.
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

-- The view metrics as text, in the format that Prometheus reads. Those of the view
-- metric_series.
create view qwf.metrics_text as
select m.name collate "C" as name, m.place, m.lines from _qwf.metric_lines() m;
comment on view qwf.metrics_text is
  'The metrics as Prometheus reads them: select string_agg(lines, '''' order by name, place) from '
  'qwf.metrics_text.';
comment on column qwf.metrics_text.name is 'Name of the metric.';
comment on column qwf.metrics_text.place is
  '0: its help and its figures, or of a histogram the help alone; 1: a histogram.';
comment on column qwf.metrics_text.lines is
  'The lines, 20 of each histogram, in the text format of Prometheus, version 0.0.4.';
