-- Deploy qwf:functions/metrics/_metric_lines
-- Purpose: Returns the figures of the view metric_series as lines in the format that Prometheus
--   reads: a row for each metric, with its help and figures, and a row for each histogram.
-- Guarantees: A histogram is 20 lines, and not put together with others: copies of long texts cost
--   most, and so do many short rows. The session keeps the plan. A label that is null is left out.
-- Called by: the view metrics_text.

begin;

create function _qwf.metric_lines() returns table (name text, place int, lines text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with bucket as materialized (  -- E'\r' stands for the name and the labels
    select string_agg(E'\rle="' || round((0.001 * 1.2::float8 ^ (6 * (n - 1)))::numeric, 6)
      || E'"} %s\n', '' order by n) || E'\rle="+Inf"} %s\n' as lines
    from generate_series(1, 17) n
  ), figure as materialized (
    select s.name, s.value, s.kind, s.help, s.seconds, s.edges, case
      when p is null then null
      when s.raw = '{}' then ''
      when strpos(s.raw, E'\\') = 0 and strpos(s.raw, E'\n') = 0 and array_position(p, null) is null
          and cardinality(p) <= 6
        then case cardinality(p)
          when 2 then '{' || p[1] || '="' || p[2] || '"'
          when 4 then '{' || p[1] || '="' || p[2] || '",' || p[3] || '="' || p[4] || '"'
          else '{' || p[1] || '="' || p[2] || '",' || p[3] || '="' || p[4] || '",' || p[5] || '="'
            || p[6] || '"' end
      else coalesce('{' || (
        select string_agg(p[n] || '="' || replace(replace(replace(
          p[n + 1], E'\\', E'\\\\'), '"', E'\\"'), E'\n', E'\\n') || '"', ',')
        from generate_series(1, cardinality(p), 2) n), '') end as label
    from (
      select m.name, m.pairs as p, m.pairs::text as raw, m.value, m.kind, m.help, m.seconds, m.edges
      from qwf.metric_series m offset 0) s
  )
  select f.name, 0, '# HELP ' || f.name || ' ' || min(f.help) || E'\n# TYPE ' || f.name || ' '
    || min(f.kind) || E'\n' || coalesce(string_agg(
      f.name || f.label || case when f.label = '' then ' ' else '} ' end
        || case f.value when 'Infinity' then '+Inf' else f.value::text end || E'\n', '')
      filter (where f.value is not null and f.edges is null), '')
  from figure f where f.label is not null group by f.name
  union all
  select f.name, 1, replace(format(b.lines, variadic f.edges || f.value::bigint), E'\r',
      f.name || '_bucket' || f.label || ',')
    || (f.name || '_count' || f.label || '} ' || f.value
      || E'\n' || f.name || '_sum' || f.label || '} ' || f.seconds || E'\n')
  from figure f cross join bucket b where f.edges is not null and f.value is not null
  union all
  select 'qwf_unreadable', 0,
    '# HELP qwf_unreadable Queries that failed in this scrape, or that this login may not make.'
    || E'\n# TYPE qwf_unreadable gauge\nqwf_unreadable ' || count(*) || E'\n'
  from figure f where f.label is null;
end $$;
call _qwf.allow('_qwf.metric_lines', 'qwf_viewer');

commit;
