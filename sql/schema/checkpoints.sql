-- Deploy qwf:schema/checkpoints
-- Values that bodies have saved, so that the next attempt of their job goes on from there. Only a
-- job whose body saves has a row.

begin;

create table qwf.checkpoints (
  job_id bigint primary key,
  attempt int not null,
  value jsonb not null,
  at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
comment on table qwf.checkpoints is
  'The last checkpoint of each job whose body has saved one; claim hands it to the next attempt.';
comment on column qwf.checkpoints.job_id is 'The job.';
comment on column qwf.checkpoints.attempt is 'The attempt that saved it.';
comment on column qwf.checkpoints.value is 'The JSON object that the body saved.';
comment on column qwf.checkpoints.at is 'When it was saved.';

commit;
