-- Figures for monitors, as rows and as text.

create type _qwf.metric as (
  name text, labels text[], value double precision, kind text, help text);
comment on type _qwf.metric is
  'A row of the view metrics; labels: each is followed by its value. The name qwf_unreadable, '
  'without labels, stands for a part of the metrics that could not be read.';

create type _qwf.metric_series as (
  name text, labels text[], value double precision, kind text, help text, seconds double precision,
  edges bigint[]);
comment on type _qwf.metric_series is
  'A row of the view metric_series; seconds and edges are null unless it is a histogram.';

-- Returns the metrics of one part of the engine; if that fails, a warning says why, and the row
-- qwf_unreadable counts it. A part that fails is left out as a whole, and does not take the
-- others with it. One that takes until the statement timeout leaves out itself and those after
-- it. Who cancels the statement ends it.
create function _qwf.metrics_of(p_part text) returns setof _qwf.metric_series
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit interval := nullif(current_setting('statement_timeout')::interval, '0');
  v_found _qwf.metric[];
  v_error text;
begin
  if clock_timestamp() - statement_timestamp() >= v_limit then
    raise exception using errcode = 'query_canceled', message = 'the statement timeout is over';
  end if;
  case p_part
    when 'queues' then v_found := array(select m from _qwf.queue_metrics() m);
    when 'workers' then v_found := array(select m from _qwf.worker_metrics() m);
    when 'attempts' then  -- many rows; it returns all or none, because it is not inlined
      return query select m.*, null::float8, null::bigint[] from _qwf.attempt_metrics() m;
    when 'histograms' then  -- the same
      return query select * from _qwf.histogram_series();
    when 'events' then v_found := array(select m from _qwf.event_metrics() m);
    when 'late' then  -- the same
      return query select m.*, null::float8, null::bigint[] from _qwf.late_metrics() m;
    when 'runs' then v_found := array(select m from _qwf.run_metrics() m);
    when 'upkeep' then v_found := array(select m from _qwf.upkeep_metrics() m);
    when 'limits' then v_found := array(select m from _qwf.limit_metrics() m);
    when 'model servers' then v_found := array(select m from _qwf.model_server_metrics() m);
    when 'tables' then  -- not on a standby, which does not see what vacuum does
      v_found := array(
        select (m.name, array['table', c.relname::text], m.value, 'gauge', m.help)::_qwf.metric
        from pg_catalog.pg_class c
        cross join lateral (values
          ('qwf_dead_rows', pg_catalog.pg_stat_get_dead_tuples(c.oid),
            'Rows that vacuum has not removed yet.'),
          ('qwf_live_rows', pg_catalog.pg_stat_get_live_tuples(c.oid),
            'Rows, by the server''s statistics.'),
          ('qwf_table_bytes', pg_catalog.pg_total_relation_size(c.oid),
            'Size on disk, with indexes.')
        ) m (name, value, help)
        where c.relnamespace = 'qwf'::regnamespace and c.relkind = 'r');
    when 'boxes' then v_found := array(select m from _qwf.box_metrics() m);
  end case;
  return query select m.*, null::float8, null::bigint[] from unnest(v_found) m;
exception when query_canceled or others then
  if sqlstate = '57014' and (clock_timestamp() - statement_timestamp() < v_limit) is not false then
    raise;  -- somebody cancels the statement
  end if;
  get stacked diagnostics v_error = message_text;
  raise warning using message = format('the metrics of %s are left out: %s', p_part, v_error),
    hint = 'correct this and repeat it; the other figures are right';
  return query select 'qwf_unreadable', null::text[], 1::float8, null, null, null::float8,
    null::bigint[];
end $$;
call _qwf.allow('_qwf.metrics_of', 'qwf_viewer');

-- Returns the histograms of attempts and runs, each in one row: how many took less than each of
-- 17 edges from 1 ms to 11 h. The rows of the totals have the exact edges. 200 tasks and 200
-- workflows have their name, the first by name; the others are added up as other.
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

-- Returns the figures of the view metric_series as lines in the format that Prometheus reads: a
-- row for each metric, with its help and figures, and a row for each histogram. A histogram is
-- 20 lines, and not put together with others: copies of long texts cost most, and so do many
-- short rows. The session keeps the plan. A label that is null is left out.
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

-- Returns what the server itself has to be watched for: old transactions, and how near it is to
-- the last transaction id. Runs with the rights of its reader. The server shows the transactions
-- of others only to members of pg_read_all_stats; who is none gets a warning rather than a zero.
-- A standby knows nothing of the transactions of its primary.
create function _qwf.postgres_metrics() returns setof _qwf.metric
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_is_in_recovery() then
    null;
  elsif pg_has_role(current_user, 'pg_read_all_stats', 'usage') then
    return query
      select 'qwf_oldest_snapshot_seconds', '{}'::text[],
        coalesce(max(date_part('epoch', clock_timestamp() - a.xact_start)), 0), 'gauge',
        'Age of the oldest open transaction.'
      from pg_stat_activity a
      where a.backend_xmin is not null and a.backend_type = 'client backend'
        and a.pid <> pg_backend_pid();
  else
    raise warning using message = 'this login may not read qwf_oldest_snapshot_seconds',
      hint = 'let an administrator run: grant pg_read_all_stats to the login of the metrics';
    return query select 'qwf_unreadable', null::text[], 1::float8, null, null;
  end if;
  return query
    select 'qwf_oldest_xid_age', '{}'::text[],
      greatest(age(d.datfrozenxid), mxid_age(d.datminmxid))::float8, 'gauge',
      'Transaction ids since the oldest one that is not frozen; the server stops at 2,147,483,647.'
    from pg_database d
    where d.datname = current_database();
end $$;
call _qwf.allow('_qwf.postgres_metrics', 'qwf_viewer');
