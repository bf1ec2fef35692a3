-- Deploy qwf:schema/usual
-- How long runs, nodes and tasks usually take, and what is late now. tick() fills both from events
-- and statistics, so that nothing that claims or finishes pays for them.

begin;

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

commit;
