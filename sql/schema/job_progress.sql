-- Deploy qwf:schema/job_progress
-- How far jobs are. Only a job whose body reports has a row, and a map that was spread; so a report
-- rewrites no row of jobs, which are wide. A row is about the attempt that it names: what an earlier
-- one said does not count any more once the job is claimed again, and claim has nothing to clear.

begin;

create table qwf.job_progress (
  job_id bigint primary key,
  attempt int not null,
  fraction real,
  message text,
  at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
comment on table qwf.job_progress is
  'What the bodies of jobs last reported, and how much of each map has ended.';
comment on column qwf.job_progress.job_id is 'The job.';
comment on column qwf.job_progress.attempt is 'The attempt that reported it.';
comment on column qwf.job_progress.fraction is 'Fraction done, 0 to 1; null: it has not said.';
comment on column qwf.job_progress.message is 'Message of the last report that had one.';
comment on column qwf.job_progress.at is 'When it last reported.';

commit;
