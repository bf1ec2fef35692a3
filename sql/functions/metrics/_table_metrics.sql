-- Deploy qwf:functions/metrics/_table_metrics
-- Purpose: Returns the sizes of the tables, and what vacuum has left to do.
-- Called by: metrics_of, not on a standby, which does not see what vacuum does.

begin;

create function _qwf.table_metrics() returns setof _qwf.metric
language sql stable
as $$
  select m.name, array['table', c.relname::text], m.value, 'gauge', m.help
  from pg_catalog.pg_class c
  cross join lateral (values
    ('qwf_dead_rows', pg_catalog.pg_stat_get_dead_tuples(c.oid),
      'Rows that vacuum has not removed yet.'),
    ('qwf_live_rows', pg_catalog.pg_stat_get_live_tuples(c.oid),
      'Rows, by the server''s statistics.'),
    ('qwf_table_bytes', pg_catalog.pg_total_relation_size(c.oid), 'Size on disk, with indexes.')
  ) m (name, value, help)
  where c.relnamespace = 'qwf'::regnamespace and c.relkind = 'r'
$$;

commit;
