-- Deploy qwf:views/health/metrics_text
-- Purpose: The view metrics as text, in the format that Prometheus reads, a metric in one row.
-- Guarantees: Those of the view metric_series. The help of a metric comes first.
--   A histogram becomes its 20 lines at once: most of the lines are theirs. The other way, by the
--   rows of metrics, takes three times as long.

begin;

create view qwf.metrics_text as
with bucket as materialized (  -- the 17 edges of a histogram are the arguments 5 to 21
  select string_agg(format('%%1$s_bucket{%%2$s,le="%s"} %%%s$s', round(
      (0.001 * 1.2::float8 ^ (6 * (n - 1)))::numeric, 6), n + 4) || E'\n', '' order by n)
    || E'%1$s_bucket{%2$s,le="+Inf"} %3$s\n%1$s_count{%2$s} %3$s\n%1$s_sum{%2$s} %4$s\n' as lines
  from generate_series(1, 17) n
), labelled as materialized (
  select f.name, f.labels, f.value, f.kind, f.help, f.seconds, f.edges, case
    when f.object = '{}' then ''
    when strpos(f.object, E'\\') = 0 and strpos(f.object, ': null') = 0  -- each quote is JSON
      then rtrim(substr(replace(replace(f.object, '": "', '="'), '", "', '",'), 3), '}')
    else (
      select string_agg(p.key || '="' || replace(replace(replace(
        p.value, E'\\', E'\\\\'), '"', E'\\"'), E'\n', E'\\n') || '"', ',')
      from jsonb_each_text(f.labels) p) end as label
  from (select m.*, m.labels::text as object from qwf.metric_series m offset 0) f
), said as (
  select l.name, l.kind, l.help, case
    when l.edges is not null then format(b.lines, variadic
      array[l.name, l.label, l.value::text, l.seconds::text] || l.edges::text[])
    when l.value is not null then l.name || case when l.label <> '' then '{' || l.label || '}'
      else '' end || case l.value when 'Infinity' then ' +Inf' else ' ' || l.value::text end
      || E'\n' end as lines
  from labelled l cross join bucket b
  where l.labels is not null
  union all
  select 'qwf_unreadable', 'gauge',
    'Queries that failed in this scrape, or that this login may not make.',
    'qwf_unreadable ' || count(*) || E'\n'
  from labelled l where l.labels is null
)
select s.name collate "C" as name, format(E'# HELP %1$s %2$s\n# TYPE %1$s %3$s\n',
    s.name collate "C", min(s.help), min(s.kind)) || coalesce(string_agg(s.lines, ''), '') as lines
from said s group by s.name collate "C";
comment on view qwf.metrics_text is
  'The metrics as Prometheus reads them: select string_agg(lines, '''' order by name) from '
  'qwf.metrics_text.';
comment on column qwf.metrics_text.name is 'Name of the metric.';
comment on column qwf.metrics_text.lines is
  'Its help and its figures, in the text format of Prometheus, version 0.0.4.';

commit;
