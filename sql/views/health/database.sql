-- Instance, outbox, snapshots and tables of the database.

-- The database as a whole: which one it is, how far its ids are, and when it last ticked.
create view qwf.instance_overview as
select
  i.id as instance, i.generation, i.began_at, qwf.version() as version,
  case when t.last_value > 0 then to_timestamp(t.last_value / 1000.0) end as last_tick,
  j.last_value as last_job_id, r.last_value as last_run_id
from qwf.instance i
cross join qwf.last_tick t
cross join qwf.jobs_id_seq j
cross join qwf.runs_id_seq r;
comment on view qwf.instance_overview is
  'The database as a whole, one row: select * from qwf.instance_overview.';
comment on column qwf.instance_overview.instance is
  'Which database this is; agents mark their folders with it.';
comment on column qwf.instance_overview.generation is
  '1, and one more each time the database was restored from a backup.';
comment on column qwf.instance_overview.began_at is 'When the generation began.';
comment on column qwf.instance_overview.version is 'Version of the schema.';
comment on column qwf.instance_overview.last_tick is 'When the last tick began; null: never.';
comment on column qwf.instance_overview.last_job_id is 'The newest id of a job.';
comment on column qwf.instance_overview.last_run_id is 'The newest id of a run.';

-- The events that are not applied to their runs yet.
create view qwf.outbox_overview as
select
  o.id, o.run_id, o.job_id, o.kind, o.tries, o.next_try_at, left(o.error, 1000) as error,
  o.poisoned_at, o.created_at
from qwf.outbox o;
comment on view qwf.outbox_overview is
  'Events that are not applied yet (order by id): select * from qwf.outbox_overview.';
comment on column qwf.outbox_overview.id is 'Grows in order of writing.';
comment on column qwf.outbox_overview.run_id is 'Run to apply it to.';
comment on column qwf.outbox_overview.job_id is 'Node it is about; null for stop.';
comment on column qwf.outbox_overview.kind is
  'completed, failed, cancelled, requeued, asked, ready or stop; see qwf.outbox.';
comment on column qwf.outbox_overview.tries is 'How often applying it failed.';
comment on column qwf.outbox_overview.next_try_at is 'Not tried before this time; null: at once.';
comment on column qwf.outbox_overview.error is 'Why the last try failed, at most 1,000 letters.';
comment on column qwf.outbox_overview.poisoned_at is
  'When it was given up; null: it is tried again.';
comment on column qwf.outbox_overview.created_at is 'When it was written.';

-- Open transactions of this database that keep dead rows. Shows a login without
-- pg_read_all_stats only its own.
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

-- The tables of the engine, with their sizes and dead rows.
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
