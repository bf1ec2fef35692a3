-- Deploy qwf:functions/metrics/_metric_lines
-- Purpose: Returns the figures of the view metric_series as lines in the format that Prometheus
--   reads: of each metric one row with its help, and a row for each of its figures.
-- Guarantees: A histogram is one row of 20 lines, and rows are not put together: copies of long
--   texts cost most. The session keeps the plan. A label that is null is left out.
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
  ), series as materialized (
    select m.name, m.pairs as p, m.pairs::text as raw, m.value, m.kind, m.help, m.seconds, m.edges
    from qwf.metric_series m
  ), labelled as materialized (
    select s.name, s.value, s.seconds, s.edges, case
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
    from series s where s.value is not null and p is not null
  )
  select h.name, 0, E'# HELP ' || h.name || ' ' || h.help || E'\n# TYPE ' || h.name || ' ' || h.kind
    || E'\n'
  from (
    select s.name, min(s.help) as help, min(s.kind) as kind
    from series s where p is not null group by s.name) h
  union all
  select l.name, 1, case
    when l.edges is not null then
      replace(format(b.lines, variadic l.edges || l.value::bigint), E'\r',
        l.name || '_bucket' || l.label || ',')
      || (l.name || '_count' || l.label || '} ' || l.value
        || E'\n' || l.name || '_sum' || l.label || '} ' || l.seconds || E'\n')
    else l.name || l.label || case when l.label = '' then '' else '}' end
      || case l.value when 'Infinity' then ' +Inf' else ' ' || l.value end || E'\n' end
  from labelled l cross join bucket b
  union all
  select 'qwf_unreadable', 1,
    '# HELP qwf_unreadable Queries that failed in this scrape, or that this login may not make.'
    || E'\n# TYPE qwf_unreadable gauge\nqwf_unreadable ' || count(*) || E'\n'
  from series s where p is null;
end $$;
call _qwf.allow('_qwf.metric_lines', 'qwf_viewer');

commit;
