-- Deploy qwf:schema/statistics
-- Counters that outlive the jobs they count. Each finish appends a row, and tick() adds the rows to
-- their hour and minute, so that two finishes never wait for the same counter. Nothing deletes
-- hours.

begin;

create table qwf.attempt_counts (
  minute timestamptz not null,
  queue text not null,
  task text not null,
  outcome text not null,
  waits real[] not null,
  runs real[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        vacuum_truncate = off);
-- It has no key, which every finish would have to maintain. Without this, the first roll-up would
-- fail once the table is in a publication.
alter table qwf.attempt_counts replica identity full;
comment on table qwf.attempt_counts is
  'Attempts that ended and are not added to hourly_counts and queue_minutes yet.';
comment on column qwf.attempt_counts.minute is 'Full minute (UTC) in which they ended.';
comment on column qwf.attempt_counts.queue is 'Queue of the jobs.';
comment on column qwf.attempt_counts.task is 'Task of the jobs.';
comment on column qwf.attempt_counts.outcome is 'How the attempts ended.';
comment on column qwf.attempt_counts.waits is
  'Seconds from claimable to claimed, one for each attempt.';
comment on column qwf.attempt_counts.runs is
  'Seconds that the body ran, as the worker has reported, else from claimed to ended; one for each '
  'attempt.';

create table qwf.hourly_counts (
  hour timestamptz not null,
  queue text not null,
  task text not null,
  outcome text not null,
  count bigint not null,
  wait_seconds double precision not null,
  wait_max real not null,
  waits bigint[] not null,
  run_seconds double precision not null,
  run_max real not null,
  runs bigint[] not null,
  primary key (hour, queue, task, outcome)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table qwf.hourly_counts is
  'Attempts per hour, queue, task and outcome; the view job_stats reads percentiles from it.';
comment on column qwf.hourly_counts.hour is 'Full hour (UTC) in which they ended.';
comment on column qwf.hourly_counts.queue is 'Queue of the jobs.';
comment on column qwf.hourly_counts.task is 'Task of the jobs.';
comment on column qwf.hourly_counts.outcome is 'How the attempts ended.';
comment on column qwf.hourly_counts.count is 'How many.';
comment on column qwf.hourly_counts.wait_seconds is 'Sum of their waits.';
comment on column qwf.hourly_counts.wait_max is 'Longest wait, seconds.';
comment on column qwf.hourly_counts.waits is 'Histogram of waits, see _histogram().';
comment on column qwf.hourly_counts.run_seconds is 'Sum of their run times.';
comment on column qwf.hourly_counts.run_max is 'Longest run, seconds.';
comment on column qwf.hourly_counts.runs is 'Histogram of run times, see _histogram().';

create table qwf.attempt_totals (
  queue text not null,
  task text not null,
  outcome text not null,
  count bigint not null,
  wait_seconds double precision not null,
  waits bigint[] not null,
  run_seconds double precision not null,
  runs bigint[] not null,
  wait_edges bigint[] not null generated always as (_qwf.edge_counts(waits)) stored,
  run_edges bigint[] not null generated always as (_qwf.edge_counts(runs)) stored,
  primary key (queue, task, outcome)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table qwf.attempt_totals is
  'Attempts since the database was made, by queue, task and outcome. Counters of monitors read it: '
  'the sum of hourly_counts takes longer with each year.';
comment on column qwf.attempt_totals.queue is 'Queue of the jobs.';
comment on column qwf.attempt_totals.task is 'Task of the jobs.';
comment on column qwf.attempt_totals.outcome is 'How the attempts ended.';
comment on column qwf.attempt_totals.count is 'How many.';
comment on column qwf.attempt_totals.wait_seconds is 'Sum of their waits.';
comment on column qwf.attempt_totals.waits is 'Histogram of waits, see _histogram().';
comment on column qwf.attempt_totals.run_seconds is 'Sum of their run times.';
comment on column qwf.attempt_totals.runs is 'Histogram of run times, see _histogram().';
comment on column qwf.attempt_totals.wait_edges is
  'How many waits were below each of the 17 edges of the metrics, see _edge_counts().';
comment on column qwf.attempt_totals.run_edges is
  'How many run times were below each of the 17 edges of the metrics, see _edge_counts().';

commit;
