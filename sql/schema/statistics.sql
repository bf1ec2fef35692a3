-- Counters that outlive the jobs they count, and how long work usually takes.

-- Returns how many times of a histogram are below each of the 17 edges of the metrics: 0.001 *
-- 1.2^(6n) seconds, every sixth of _histogram.
create function _qwf.edge_counts(p_counts bigint[]) returns bigint[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c bigint[] := p_counts || array_fill(0::bigint, array[97]);
  v_sum bigint := c[1];
  v_edges bigint[] := array[c[1]];
begin
  for at in 2..92 by 6 loop
    v_sum := v_sum + c[at] + c[at + 1] + c[at + 2] + c[at + 3] + c[at + 4] + c[at + 5];
    v_edges := v_edges || v_sum;
  end loop;
  return v_edges;
end $$;

-- Each finish appends rows, one for each queue, task and outcome. tick() adds them to their hour
-- and minute, so that two finishes never wait for the same counter. Nothing deletes hours.
create table qwf.attempt_counts (
  minute timestamptz not null,
  queue text not null,
  task text not null,
  outcome text not null,
  waits real[] not null,
  runs real[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        vacuum_truncate = off);

-- It has no key, which every finish would have to maintain. Without replica identity full, the
-- first roll-up would fail once the table is in a publication.
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

-- How long runs, nodes and tasks usually take, and what is late or in trouble now. tick() fills
-- usual_times from events and statistics, and then late_jobs and open_states, so that nothing that
-- claims or finishes pays for them.
create table qwf.usual_times (
  kind text not null check (kind in ('run', 'node', 'task')),
  name text not null,
  node text not null default '',
  since timestamptz not null,
  recent bigint[] not null default '{}',
  older bigint[] not null default '{}',
  runs bigint not null default 0,
  longest real,
  p50 real,
  p90 real,
  p95 real,
  last_at timestamptz,
  last_status text,
  last_seconds real,
  last_success timestamptz,
  last jsonb not null default '[]',
  primary key (kind, name, node)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table qwf.usual_times is
  'How long runs of a workflow, nodes of a workflow and jobs of a task take, and their last ends; '
  'people read view qwf.usual.';
comment on column qwf.usual_times.kind is 'run, node or task.';
comment on column qwf.usual_times.name is 'The workflow, or the task.';
comment on column qwf.usual_times.node is 'The node; empty: a run or a task.';
comment on column qwf.usual_times.since is
  'Since when recent counts; after 14 days it begins anew.';
comment on column qwf.usual_times.recent is
  'Histogram of the seconds of what completed since then, see _histogram().';
comment on column qwf.usual_times.older is 'The histogram that recent was before that.';
comment on column qwf.usual_times.runs is 'How many times both histograms count.';
comment on column qwf.usual_times.longest is 'The longest of them, seconds.';
comment on column qwf.usual_times.p50 is 'Half of them took less, seconds.';
comment on column qwf.usual_times.p90 is 'Nine of ten took less, seconds.';
comment on column qwf.usual_times.p95 is '19 of 20 took less, seconds.';
comment on column qwf.usual_times.last_at is 'When the last one ended.';
comment on column qwf.usual_times.last_status is 'How it ended.';
comment on column qwf.usual_times.last_seconds is 'How long it took.';
comment on column qwf.usual_times.last_success is 'When one last completed; null: never.';
comment on column qwf.usual_times.last is
  'The last 60 runs, of a node the last 30, the newest first: a list of '
  '{run, status, seconds, at}.';

create table _qwf.judged (
  single boolean primary key default true check (single),
  at timestamptz,
  run_floor bigint not null default 0,
  learned_seq bigint not null default 0
);
insert into _qwf.judged default values;
comment on table _qwf.judged is 'How far the parts judged and learned of tick() are, in one row.';
comment on column _qwf.judged.single is 'Always true: there is one row.';
comment on column _qwf.judged.at is 'When it was last looked for what is late; null: never.';
comment on column _qwf.judged.run_floor is
  'Id of the last open run that was looked at; 0: all were.';
comment on column _qwf.judged.learned_seq is 'Number of the last event that usual_times counts.';

create table _qwf.open_states (
  kind text not null,
  subject text not null,
  since timestamptz not null,
  names jsonb,
  primary key (kind, subject)
);
comment on table _qwf.open_states is
  'Troubles that exist now and were told by an event: each is told once, and so is its end.';
comment on column _qwf.open_states.kind is 'Kind of the event that told that it began.';
comment on column _qwf.open_states.subject is
  'Subject of that event; of a model server the host and its name; of a job its id.';
comment on column _qwf.open_states.since is 'When it began.';
comment on column _qwf.open_states.names is 'Names of that event; of a job what it needs.';

create table _qwf.late_jobs (
  job_id bigint primary key,
  attempt int not null
);
comment on table _qwf.late_jobs is 'Running jobs of which an event job_late tells already.';
comment on column _qwf.late_jobs.job_id is 'The job.';
comment on column _qwf.late_jobs.attempt is 'Its attempt.';

create table _qwf.run_totals (
  workflow text not null,
  status text not null,
  count bigint not null,
  seconds float8 not null,
  edges bigint[] not null,
  primary key (workflow, status)
) with (fillfactor = 50);
comment on table _qwf.run_totals is 'All runs that ended, by workflow and status, for the metrics.';
comment on column _qwf.run_totals.workflow is 'The workflow.';
comment on column _qwf.run_totals.status is 'How they ended.';
comment on column _qwf.run_totals.count is 'How many.';
comment on column _qwf.run_totals.seconds is
  'Sum of their times, without the time that they waited for answers.';
comment on column _qwf.run_totals.edges is
  'How many took less than each of the 17 edges of the metrics, see _edge_counts().';

create table _qwf.event_totals (
  kind text primary key,
  count bigint not null,
  failed_alerts bigint not null
) with (fillfactor = 50);
comment on table _qwf.event_totals is 'All events that got a number, by kind, for the metrics.';
comment on column _qwf.event_totals.kind is 'Kind of event.';
comment on column _qwf.event_totals.count is 'How many.';
comment on column _qwf.event_totals.failed_alerts is
  'How many of them tell that a rule or the delivery of a message failed.';
