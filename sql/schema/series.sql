-- Deploy qwf:schema/series
-- Numbers that bodies track while they run, such as a loss. Only a job whose body tracks something
-- has a row.

begin;

create table qwf.attempt_series (
  job_id bigint not null,
  attempt int not null,
  run_id bigint,
  at timestamptz not null,
  series jsonb not null,
  left_out int not null,
  primary key (job_id, attempt)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index attempt_series_run on qwf.attempt_series (run_id) where run_id is not null;
comment on table qwf.attempt_series is
  'The numbers that an attempt has tracked; the view series_overview shows them.';
comment on column qwf.attempt_series.job_id is 'The job.';
comment on column qwf.attempt_series.attempt is 'The attempt that tracked them.';
comment on column qwf.attempt_series.run_id is 'Its run; null: standalone.';
comment on column qwf.attempt_series.at is 'When they were reported last.';
comment on column qwf.attempt_series.series is
  'By name: points, a list of [step, value], and reported, how many points the body tracked.';
comment on column qwf.attempt_series.left_out is
  'How many other names the body tracked, which are not kept.';

commit;
