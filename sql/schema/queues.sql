-- Queues with the settings that their jobs inherit, and tasks held back because they crash.

create table qwf.queues (
  name text primary key check (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  paused boolean not null default false,
  paused_at timestamptz,
  max_running int check (max_running >= 1),
  lease interval check (lease between '1 s' and '1 day'),
  timeout interval check (timeout > '0 s' and timeout <= '366 days'),
  effective_lease interval not null default '1 min',
  effective_timeout interval not null default '1 hour',
  retention interval check (retention > '0 s' and retention <= '1000 years'),
  placement text not null default 'spread' check (placement in ('spread', 'pack')),
  keep_completed boolean not null default true,
  on_failure text not null default 'fail' check (on_failure in ('fail', 'ask')),
  expect jsonb check (jsonb_typeof(expect) = 'object'),
  created_at timestamptz not null default clock_timestamp()
);
insert into qwf.queues (name, placement, timeout) values
  ('cpu', 'spread', null), ('llm', 'pack', null), ('default', 'spread', null),
  ('gpu', 'spread', '366 days'),  -- no limit: watchdogs of the card end what hangs, and not renders
  ('qwf.runs', 'spread', null);  -- the engine serves it: runs that wait in line
comment on table qwf.queues is
  'Queues that workers can serve; cpu, gpu, llm and default exist from the start, and so does '
  'qwf.runs, which the engine serves.';
comment on column qwf.queues.name is
  'Name: lower-case letters, digits, dots, dashes, underscores, a letter first.';
comment on column qwf.queues.paused is 'True: no jobs are handed out; running jobs continue.';
comment on column qwf.queues.paused_at is 'Since when it is paused; null: it is not.';
comment on column qwf.queues.max_running is
  'How many of its jobs may run at once, on all workers together; null: no limit.';
comment on column qwf.queues.lease is 'Lease of its jobs; null: the setting.';
comment on column qwf.queues.timeout is
  'Wall-clock limit of one attempt of its jobs; null: the setting.';
comment on column qwf.queues.effective_lease is
  'lease, or the setting; kept by triggers, so that claim() reads one row.';
comment on column qwf.queues.effective_timeout is
  'timeout, or the setting; kept by triggers, so that claim() reads one row.';
comment on column qwf.queues.retention is 'How long its ended jobs are kept; null: the setting.';
comment on column qwf.queues.placement is
  'Who takes a new job: spread (the first to ask) or pack (the best worker that has room, by '
  'rank and slots; anybody once the job has waited for settings.pack_patience).';
comment on column qwf.queues.keep_completed is
  'False: a standalone job that completed leaves no row and no attempt; its figures stay in '
  'job_stats.';
comment on column qwf.queues.on_failure is
  'The reaction when a standalone job that does not say it itself fails for good: fail, or ask (a '
  'person decides).';
comment on column qwf.queues.expect is
  'When it is late: {"starts_within": how long its first job may wait}; null: never.';
comment on column qwf.queues.created_at is 'When it was created.';

create table qwf.held_tasks (
  queue text not null,
  task text not null,
  hosts text[] not null,
  crashes int not null,
  other_ends bigint not null,
  crashed_at timestamptz not null,
  until timestamptz,
  holds int not null default 0,
  trial_job bigint,
  trial_attempt int,
  primary key (queue, task)
);
comment on table qwf.held_tasks is
  'Tasks that have killed their process, and have not ended in another way since; those that did '
  'it on two boxes are held back.';
comment on column qwf.held_tasks.queue is 'Queue of the jobs.';
comment on column qwf.held_tasks.task is 'Task of the jobs.';
comment on column qwf.held_tasks.hosts is 'Boxes on which it has crashed, in a row.';
comment on column qwf.held_tasks.crashes is 'How often it has crashed, in a row.';
comment on column qwf.held_tasks.other_ends is
  'How many attempts of it had ended in another way when the row began; more of them end it.';
comment on column qwf.held_tasks.crashed_at is 'When it crashed last.';
comment on column qwf.held_tasks.until is
  'Until when its waiting jobs are held back; then one of them runs alone. Null: they are not.';
comment on column qwf.held_tasks.holds is 'How often in a row it has been held back.';
comment on column qwf.held_tasks.trial_job is 'The job that runs alone after that; null: none yet.';
comment on column qwf.held_tasks.trial_attempt is 'Its attempt.';
