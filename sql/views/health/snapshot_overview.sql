-- Deploy qwf:views/health/snapshot_overview
-- Purpose: Open transactions of this database that keep dead rows.
-- Guarantees: Shows a login without pg_read_all_stats only its own.

begin;

create view qwf.snapshot_overview as
select
  a.pid, a.usename as login, a.application_name as application, a.state,
  extract(epoch from qwf.now() - a.xact_start)::float8 as seconds
from pg_catalog.pg_stat_activity a
where a.datname = pg_catalog.current_database() and a.backend_xmin is not null
  and a.pid <> pg_catalog.pg_backend_pid();
comment on view qwf.snapshot_overview is
  'Transactions of this database that keep dead rows (order by seconds desc); those of other '
  'logins only for a member of pg_read_all_stats.';
comment on column qwf.snapshot_overview.pid is 'Process that has it open.';
comment on column qwf.snapshot_overview.login is 'Login that opened it.';
comment on column qwf.snapshot_overview.application is 'Name that the client gives itself.';
comment on column qwf.snapshot_overview.state is 'State of its session, as in pg_stat_activity.';
comment on column qwf.snapshot_overview.seconds is 'How long it has been open.';

commit;
