-- The log of events, and the numbers that give it one order.

-- Events: the rows behind view qwf.events, and the numbers they get. Private, so that nobody but
-- the engine writes, numbers or locks them.
create table _qwf.event_log (
  id bigint generated always as identity primary key,
  seq bigint,
  at timestamptz not null default clock_timestamp(),
  kind text not null check (kind in (
    'lost', 'tripped', 'reclaimed', 'cancel_requested', 'cancelled', 'poisoned', 'expired',
    'deadline', 'retried', 'changed', 'fired', 'stall_suspected', 'worker_off', 'worker_on',
    'worker_server', 'worker_model', 'worker_stopped', 'host_forgotten', 'server_broken',
    'folder_moved', 'older_code', 'run_ended', 'job_failed', 'question_asked', 'question_answered',
    'events_restarted', 'settings_changed', 'queue_changed', 'limit_changed', 'schedule_changed',
    'definition_changed', 'schema_changed', 'erased', 'alert_changed', 'alert_failed',
    'run_late', 'job_late', 'overdue',
    'schedule_failed', 'schedule_skipped', 'schedule_late', 'schedule_ok', 'queue_waits',
    'queue_moves', 'worker_dead', 'worker_back', 'server_back', 'ticks_missed',
    'cannot_run_anywhere', 'task_held', 'task_back')),
  subject text,
  names jsonb,
  run_id bigint,
  job_id bigint,
  login text not null default session_user,
  acting_for text default
    case when current_setting('qwf.acting_for', true) <> '' then _qwf.acting_for() end,
  detail jsonb not null default '{}'
);

create unique index event_log_seq on _qwf.event_log (seq) where seq is not null;

create index event_log_new on _qwf.event_log (id) where seq is null;

create index event_log_job on _qwf.event_log (job_id, id) where job_id is not null;

create index event_log_run on _qwf.event_log (run_id, job_id, id) where run_id is not null;

create index event_log_acts on _qwf.event_log (id) where kind in (
  'settings_changed', 'queue_changed', 'limit_changed', 'schedule_changed', 'definition_changed',
  'schema_changed', 'worker_off', 'worker_on', 'worker_server', 'worker_model', 'worker_stopped',
  'host_forgotten', 'cancel_requested', 'cancelled', 'retried', 'changed', 'fired',
  'question_answered', 'erased', 'alert_changed');
comment on table _qwf.event_log is
  'Each row is an event; people read view qwf.events. What changes something writes the row in the '
  'same transaction; number_events() gives it a number, and prune() deletes old ones.';
comment on column _qwf.event_log.id is 'Grows in order of writing, which is not that of commits.';
comment on column _qwf.event_log.seq is
  'Its number, from 1 without a gap; null: not numbered yet, at most about a second after its '
  'commit.';
comment on column _qwf.event_log.at is 'When it happened.';
comment on column _qwf.event_log.kind is 'Kind of event; see docs/events.md.';
comment on column _qwf.event_log.subject is
  'Name of what it happened to: workflow, task, schedule, queue, host. A writer may leave it out: '
  'number_events() fills it from the job or run.';
comment on column _qwf.event_log.names is
  'Names by which events are found: project, workflow, node, task, queue, schedule, host, worker. '
  'number_events() adds those of the job or run.';
comment on column _qwf.event_log.run_id is 'The run; null: none.';
comment on column _qwf.event_log.job_id is 'The job; null: the run as a whole, or neither.';
comment on column _qwf.event_log.login is 'Login of the session that wrote it: nobody can set it.';
comment on column _qwf.event_log.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column _qwf.event_log.detail is
  'Reason, readings, and what else helps to understand it.';

create table _qwf.event_numbers (
  single boolean primary key default true check (single),
  first_seq bigint not null default 1,
  last_seq bigint not null default 0,
  timeline text,
  floor_id bigint not null default 0,
  mark_id bigint not null default 0,
  looked_at timestamptz
);
insert into _qwf.event_numbers default values;
comment on table _qwf.event_numbers is
  'The numbers that events have, in one row. Whoever gives numbers locks it.';
comment on column _qwf.event_numbers.single is 'Always true: there is one row.';
comment on column _qwf.event_numbers.first_seq is
  'Number of the oldest event that is kept; last_seq + 1: none is.';
comment on column _qwf.event_numbers.last_seq is 'The last number given; 0: none yet.';
comment on column _qwf.event_numbers.timeline is
  'Timeline of the server that gave it: a standby that takes over has another one. Null: none yet.';
comment on column _qwf.event_numbers.floor_id is
  'Events with a smaller id have numbers, except those of a transaction that was open for 10 '
  'seconds; only a hint.';
comment on column _qwf.event_numbers.mark_id is 'The last id at looked_at: the next floor.';
comment on column _qwf.event_numbers.looked_at is
  'When all events were last looked at, not only those from the floor on.';
