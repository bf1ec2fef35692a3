-- Deploy qwf:views/health/metric_series
-- Purpose: Every figure for monitors, each histogram in one row. The views metrics and metrics_text
--   show them as Prometheus takes them.
-- Guarantees: As fast after a year as after an hour, and with a million jobs queued as with none. A
--   part that fails is left out: a warning says why. A standby leaves out what it cannot know: the
--   load of boxes, sizes of tables, old transactions.

begin;

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

commit;
