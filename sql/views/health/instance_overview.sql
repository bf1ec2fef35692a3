-- Deploy qwf:views/health/instance_overview
-- Purpose: The database as a whole: which one it is, how far its ids are, and when it last ticked.

begin;

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

commit;
