-- Schedules and their firings.

-- Schedules: what is enqueued repeatedly, and when. The next time is in the row, so that only
-- the session that holds the lock of the row fires the schedule. Each time that has come leaves
-- a row of firings, which says what came of it; it outlives its schedule.
create table qwf.schedules (
  name text primary key check (name ~ '^[a-z][a-z0-9_.-]{0,62}([.]backfill[.][0-9]+)?$'),
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
  options jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
  catch_up text not null default 'one' check (catch_up in ('one', 'none', 'all')),
  overlap text not null default 'skip' check (overlap in ('skip', 'allow', 'replace')),
  enabled boolean not null default true,
  next_at timestamptz,
  last_due_at timestamptz,
  last_fired_at timestamptz,
  last_job_id bigint,
  last_run_id bigint,
  fired bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  last_error text,
  backfill_of text,
  ends_at timestamptz,
  at_once int check (at_once >= 1),
  again boolean,
  planned int,
  resume_at timestamptz,
  expect jsonb check (jsonb_typeof(expect) = 'object'),
  on_since timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint schedules_what check (
    num_nonnulls(task, workflow) = 1 and (task is null) = (queue is null)),
  constraint schedules_when check (
    num_nonnulls(cron, minute, every) = 1
    and (hours is null or (minute is not null and cardinality(hours) > 0))
    and (every is null) = (anchor is null)),
  constraint schedules_backfill check (
    num_nonnulls(backfill_of, ends_at, at_once, again, planned) in (0, 5)
    and (resume_at is null or (backfill_of is not null and not enabled))),
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
comment on column qwf.schedules.args is
  'Args of the job, context of the run; {"$from": "due.date"} in it is the day of the time that '
  'fires.';
comment on column qwf.schedules.queue is
  'Queue of the job; null for a workflow, whose nodes name their queues.';
comment on column qwf.schedules.priority is 'Priority of the job or run: lower is sooner.';
comment on column qwf.schedules.project is 'Tenant tag of the job or run.';
comment on column qwf.schedules.options is
  'Other options of the job, as an item of enqueue_many has them, or of the run, as enqueue_run '
  'takes them. References work as in args.';
comment on column qwf.schedules.catch_up is
  'How missed times are handled: one fires once, for the latest of them; none leaves them out; all '
  'fires for each.';
comment on column qwf.schedules.overlap is
  'While the last job or run is unfinished: skip does not fire, allow does, replace cancels it and '
  'fires when it has ended. With catch_up all, skip waits instead.';
comment on column qwf.schedules.enabled is
  'False: it does not fire; times that pass meanwhile do not count as missed.';
comment on column qwf.schedules.next_at is 'When it is next due; null while it is not enabled.';
comment on column qwf.schedules.last_due_at is 'The time for which it last fired.';
comment on column qwf.schedules.last_fired_at is 'When it last fired.';
comment on column qwf.schedules.last_job_id is 'Job it enqueued last.';
comment on column qwf.schedules.last_run_id is 'Run it enqueued last.';
comment on column qwf.schedules.fired is 'How often it fired.';
comment on column qwf.schedules.skipped is
  'How many times were left out: see the firings for the reasons.';
comment on column qwf.schedules.failed is 'How often it was due and enqueuing failed.';
comment on column qwf.schedules.last_error is
  'Why enqueuing failed the last time it was due; null: it did not fail, or fire_schedule has '
  'worked since.';
comment on column qwf.schedules.backfill_of is
  'The schedule whose earlier times it fires, if it is a backfill; null: it is none.';
comment on column qwf.schedules.ends_at is
  'End of the times of a backfill: the first time that it does not fire any more.';
comment on column qwf.schedules.at_once is
  'How many jobs or runs of a backfill may be unfinished at once.';
comment on column qwf.schedules.again is
  'True: the backfill also fires for times that have completed before.';
comment on column qwf.schedules.planned is 'How many times the backfill has in all.';
comment on column qwf.schedules.resume_at is
  'Time at which a backfill that is switched off goes on; null: it is on, or it has ended.';
comment on column qwf.schedules.expect is
  'When it is late: {"takes": after its due time without success, "every": without any}; null: '
  'never.';
comment on column qwf.schedules.on_since is
  'Since when it is on with these times; nothing is expected of times before.';
comment on column qwf.schedules.created_at is 'When it was created.';

create table qwf.firings (
  id bigint generated always as identity primary key,
  schedule text not null,
  backfill_of text,
  due_at timestamptz,
  since timestamptz,
  times int not null default 1 check (times >= 1),
  at timestamptz not null,
  outcome text not null check (outcome in ('fired', 'skipped', 'failed')),
  reason text check (reason in ('overlap', 'missed', 'completed', 'open')),
  error text,
  job_id bigint,
  run_id bigint,
  result text check (result in ('completed', 'failed', 'cancelled', 'unknown')),
  ended_at timestamptz,
  reopened boolean not null default false,
  constraint firings_outcome check (
    case outcome
      when 'fired' then num_nonnulls(job_id, run_id) = 1 and num_nonnulls(reason, error) = 0
      when 'skipped' then reason is not null and num_nonnulls(error, job_id, run_id, result) = 0
      else error is not null and num_nonnulls(reason, job_id, run_id, result) = 0 end),
  constraint firings_result check ((result is null) = (ended_at is null))
);

create index firings_schedule on qwf.firings (schedule, id);

create index firings_of_schedule on qwf.firings ((coalesce(backfill_of, schedule)), id);

create index firings_due on qwf.firings ((coalesce(backfill_of, schedule)), due_at)
  where outcome = 'fired';

create index firings_open on qwf.firings (id) where outcome = 'fired' and result is null;

create index firings_open_of_schedule on qwf.firings (schedule)
  where outcome = 'fired' and result is null;

create index firings_completed on qwf.firings ((coalesce(backfill_of, schedule)), ended_at)
  where result = 'completed';

create index firings_job on qwf.firings (job_id) where job_id is not null;

create index firings_run on qwf.firings (run_id) where run_id is not null;
comment on table qwf.firings is
  'The times of schedules, and what each of them led to. Kept as long as the retention; of a '
  'schedule that exists, the last 100 are kept longer.';
comment on column qwf.firings.id is 'Number of the row; a later one is larger.';
comment on column qwf.firings.schedule is
  'The schedule that was due. The row stays when the schedule is dropped.';
comment on column qwf.firings.backfill_of is
  'The schedule that it backfills, if it is a backfill; else null.';
comment on column qwf.firings.due_at is
  'The time that it fired for, of several the last; null: it was fired by hand, for no time.';
comment on column qwf.firings.since is 'The first of several times; null: the row has one time.';
comment on column qwf.firings.times is
  'How many times in a row had this outcome, for the same reason. Of an outage at most 1,000 are '
  'counted.';
comment on column qwf.firings.at is 'When this happened; of several times, the last.';
comment on column qwf.firings.outcome is
  'fired: a job or a run was enqueued; skipped: left out; failed: enqueuing was refused.';
comment on column qwf.firings.reason is
  'Why it was left out. overlap: the last job or run was not over. missed: nobody called tick(). '
  'completed, open: somebody else had fired for that time, and the work completed or went on.';
comment on column qwf.firings.error is 'Why enqueuing was refused.';
comment on column qwf.firings.job_id is 'The job that it enqueued. It may be deleted by now.';
comment on column qwf.firings.run_id is 'The run that it enqueued. It may be deleted by now.';
comment on column qwf.firings.result is
  'How that job or run ended: completed, failed or cancelled; unknown: it was deleted before a '
  'tick saw its end. Null: it has not ended, or no tick has seen it.';
comment on column qwf.firings.ended_at is 'When that job or run ended; null as result is.';
comment on column qwf.firings.reopened is
  'True: that job or run was retried after its end. It does not count for the bound of a backfill.';
