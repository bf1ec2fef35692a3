-- Questions, deadlines and signals that jobs wait for, and requests to cancel.

-- Questions and deadlines of jobs, and the signals they wait for. Only jobs that ask or that may
-- expire have a row, so that an ordinary job pays for no index of them (docs/adr/0041). A row is
-- written and deleted in the transaction that changes its job, by who holds the lock of the job
-- or of its run.
create table qwf.waits (
  job_id bigint,
  kind text check (kind in ('question', 'deadline', 'signal')),
  since timestamptz,
  at timestamptz,
  project text,
  name text,
  refused bigint[],
  primary key (job_id, kind)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create index waits_at on qwf.waits (kind, at) where at is not null;

-- The oldest question, and the one that ends first: since and expires_at of pending_inputs.
create index waits_since on qwf.waits (since, job_id) where kind = 'question';

create index waits_ending on qwf.waits (
    (date_trunc('second', at at time zone 'UTC') at time zone 'UTC'), job_id)
  where kind = 'question';

create index waits_signal on qwf.waits (project, name, job_id) where kind = 'signal';

create index waits_late on qwf.waits (job_id)
  where kind = 'signal' and -1 = any (refused);
comment on table qwf.waits is
  'Questions that wait for an answer, signals that steps wait for, and deadlines by which jobs '
  'must have started.';
comment on column qwf.waits.job_id is 'The job that waits.';
comment on column qwf.waits.kind is
  'question: it asks a person. signal: it waits for one; it may ask a person, too. deadline: it '
  'expires if no worker has claimed it.';
comment on column qwf.waits.since is 'When the question was asked; null for a deadline.';
comment on column qwf.waits.at is
  'When the wait ends by itself; null: never, or with the question of the same job.';
comment on column qwf.waits.project is 'Project of the signal; else null.';
comment on column qwf.waits.name is 'Name of the signal; else null.';
comment on column qwf.waits.refused is
  'Ids of the signals of that name that did not fit the schema, newest first, at most 1000; -1: '
  'it began to wait in a transaction with an older snapshot, so the tick looks once more.';

-- Signals from outside, each a row of its own until keep_until: steps that ask later read the
-- newest that fits them. A producer and a step that do not see each other, as neither has
-- committed, are brought together by the tick: it looks at a signal until everything that was
-- open when it committed has ended.
create table qwf.signals (
  id bigint generated always as identity primary key,
  project text not null,
  name text not null,
  payload jsonb not null,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  sent_at timestamptz not null,
  keep_until timestamptz not null,
  look_at timestamptz,
  horizon xid8
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create index signals_name on qwf.signals (project, name, id);

create index signals_look_at on qwf.signals (look_at) where look_at is not null;

create index signals_keep_until on qwf.signals (keep_until);
comment on table qwf.signals is 'Signals that were sent, until they are no longer kept.';
comment on column qwf.signals.project is 'Project of the steps that it answers.';
comment on column qwf.signals.name is 'Name that a step waits for.';
comment on column qwf.signals.id is 'Grows with each signal.';
comment on column qwf.signals.payload is 'The value that steps are answered with.';
comment on column qwf.signals.login is 'Login of the session that sent it: nobody can set it.';
comment on column qwf.signals.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.signals.sent_at is 'When it was sent.';
comment on column qwf.signals.keep_until is 'Until when it answers steps that ask for it.';
comment on column qwf.signals.look_at is
  'When the tick next looks for steps that wait for it; null: there can be none.';
comment on column qwf.signals.horizon is
  'Transactions before this one may not have seen it. Null: the tick has not looked yet.';

-- Requests to stop running jobs.
create table qwf.cancel_requests (
  job_id bigint primary key,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  reason text,
  requested_at timestamptz not null default clock_timestamp()
);
comment on table qwf.cancel_requests is
  'A request to stop a running job. It has its own table so that an open transaction never locks '
  'the running job.';
comment on column qwf.cancel_requests.job_id is 'The job; the row is deleted when the job ends.';
comment on column qwf.cancel_requests.login is
  'Login of the session that asked: nobody can set it.';
comment on column qwf.cancel_requests.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.cancel_requests.reason is 'Why.';
comment on column qwf.cancel_requests.requested_at is 'When.';
