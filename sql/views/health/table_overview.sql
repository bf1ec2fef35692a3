-- Deploy qwf:views/health/table_overview
-- Purpose: The tables of the engine, with their sizes and dead rows.

begin;

create view qwf.table_overview as
select
  s.relname as name, pg_catalog.pg_total_relation_size(s.relid) as bytes, s.n_live_tup as live,
  s.n_dead_tup as dead, greatest(s.last_vacuum, s.last_autovacuum) as vacuumed
from pg_catalog.pg_stat_user_tables s
where s.schemaname = 'qwf';
comment on view qwf.table_overview is
  'Tables of the engine (order by bytes desc): select * from qwf.table_overview.';
comment on column qwf.table_overview.name is 'Name of the table.';
comment on column qwf.table_overview.bytes is 'Size on disk, with indexes and large values.';
comment on column qwf.table_overview.live is 'Rows, as the server last counted them.';
comment on column qwf.table_overview.dead is 'Dead rows, as the server last counted them.';
comment on column qwf.table_overview.vacuumed is 'When it was last vacuumed; null: never.';

commit;
