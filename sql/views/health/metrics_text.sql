-- Deploy qwf:views/health/metrics_text
-- Purpose: The view metrics as text, in the format that Prometheus reads.
-- Guarantees: Those of the view metric_series.

begin;

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

commit;
