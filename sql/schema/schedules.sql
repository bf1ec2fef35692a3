-- Deploy qwf:schema/schedules
-- Schedules: what is enqueued repeatedly, and when. The next time is in the row, so that only the
-- session that holds the lock of the row fires the schedule.

begin;

create table qwf.schedules (
  name text primary key check (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  task text,
  workflow text,
  cron text,
  minute int check (minute between 0 and 59),
  hours int[],
  every interval check (every >= '1 s'),
  anchor timestamptz,
  timezone text not null default 'UTC',
  args jsonb not null default '{}' check (jsonb_typeof(args) = 'object'),
  queue text,
  priority int not null default 100,
  project text not null default '',
  catch_up text not null default 'one' check (catch_up in ('one', 'none', 'all')),
  overlap text not null default 'skip' check (overlap in ('skip', 'allow')),
  enabled boolean not null default true,
  next_at timestamptz,
  last_due_at timestamptz,
  last_fired_at timestamptz,
  last_job_id bigint,
  last_run_id bigint,
  last_success_at timestamptz,
  fired bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  constraint schedules_what check (
    num_nonnulls(task, workflow) = 1 and (task is null) = (queue is null)),
  constraint schedules_when check (
    num_nonnulls(cron, minute, every) = 1
    and (hours is null or (minute is not null and cardinality(hours) > 0))
    and (every is null) = (anchor is null)),
  constraint schedules_enabled check (enabled = (next_at is not null))
);
create index schedules_due on qwf.schedules (next_at) where next_at is not null;

comment on table qwf.schedules is
  'A schedule: what is enqueued, when, and how missed times are handled.';
comment on column qwf.schedules.name is
  'Name; also the label "schedule" of everything it enqueues.';
comment on column qwf.schedules.task is
  'Task of the standalone jobs it enqueues; null: it enqueues runs.';
comment on column qwf.schedules.workflow is
  'Workflow of the runs it enqueues, as name or name@version; null: it enqueues jobs.';
comment on column qwf.schedules.cron is
  'When, as a cron expression; null: by minute and hours, or by every.';
comment on column qwf.schedules.minute is
  'When, as a minute of the hour; null: by cron, or by every.';
comment on column qwf.schedules.hours is 'Hours in which minute fires; null: every hour.';
comment on column qwf.schedules.every is
  'When, as an interval between times; null: by cron, or by minute.';
comment on column qwf.schedules.anchor is
  'First time of the grid that every defines.';
comment on column qwf.schedules.timezone is 'Time zone of cron, minute and hours.';
comment on column qwf.schedules.args is 'Args of the job, context of the run.';
comment on column qwf.schedules.queue is
  'Queue of the job; null for a workflow, whose nodes name their queues.';
comment on column qwf.schedules.priority is 'Priority of the job or run: lower is sooner.';
comment on column qwf.schedules.project is 'Tenant tag of the job or run.';
comment on column qwf.schedules.catch_up is
  'How missed times are handled: one fires once for all of them, none forgets them, all fires for '
  'each.';
comment on column qwf.schedules.overlap is
  'While the last job or run is unfinished: skip does not fire, allow does. With catch_up all, '
  'skip waits instead.';
comment on column qwf.schedules.enabled is
  'False: it does not fire; times that pass meanwhile do not count as missed.';
comment on column qwf.schedules.next_at is 'When it is next due; null while it is not enabled.';
comment on column qwf.schedules.last_due_at is 'The time for which it last fired.';
comment on column qwf.schedules.last_fired_at is 'When it last fired.';
comment on column qwf.schedules.last_job_id is 'Job it enqueued last.';
comment on column qwf.schedules.last_run_id is 'Run it enqueued last.';
comment on column qwf.schedules.last_success_at is
  'When the newest job or run before the last one that completed has ended. For the last one see '
  'schedule_overview.';
comment on column qwf.schedules.fired is 'How often it fired.';
comment on column qwf.schedules.skipped is
  'How often it was due and did not fire because of overlap or of catch_up none.';
comment on column qwf.schedules.failed is 'How often it was due and enqueuing failed.';
comment on column qwf.schedules.last_error is
  'Why enqueuing failed the last time it was due; null: it did not fail, or fire_schedule has '
  'worked since.';
comment on column qwf.schedules.created_at is 'When it was created.';

create type _qwf.cron_field as (numbers int[], problem text);
comment on type _qwf.cron_field is
  'A field of a cron expression: the numbers it names, or what is wrong with it.';

create type _qwf.cron as (
  minutes int[], hours int[], days int[], months int[], weekdays int[], either_day boolean,
  repeats boolean, problems _qwf.problem[]);
comment on type _qwf.cron is
  'A parsed cron expression. either_day: a day must match only one of the two day fields. '
  'repeats: a local time that occurs twice counts twice.';

create type _qwf.fired as (job_id bigint, run_id bigint, error text);
comment on type _qwf.fired is 'The work that a schedule enqueued, or why enqueuing failed.';

commit;
