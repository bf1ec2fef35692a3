-- Deploy qwf:views/health/metrics
-- Purpose: Every figure for monitors, one in a row, as Prometheus takes them.
-- Guarantees: As fast after a year as after an hour, and with a million jobs queued as with none. A
--   part that fails is left out: a warning says why, and qwf_unreadable counts it. A standby leaves
--   out what it cannot know: the load of boxes, sizes of tables, old transactions.

begin;

create view qwf.metrics as
with found as materialized (
  select m.*
  from unnest('{queues,workers,attempts,histograms,events,late,runs,upkeep,limits,model servers}'
    ::text[] || case when pg_is_in_recovery() then '{}' else '{tables}'::text[] end)
    with ordinality p (part, place)
  cross join lateral _qwf.metrics_of(p.part) m
  union all
  select * from _qwf.postgres_metrics()
  union all
  select m.*
  from unnest(case when pg_is_in_recovery() then '{}' else '{boxes}'::text[] end) p (part)
  cross join lateral _qwf.metrics_of(p.part) m
)
select f.name, f.labels, f.value, f.kind, f.help from found f where f.labels is not null
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
